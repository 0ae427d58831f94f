/** Our side of a program that started us with `startPartner`. */
export type PartnerDoor = {
  send(message: object): void;
  /** Waits until all that was sent is on its way. */
  flush(): Promise<void>;
};

/** `lost` is called once when whoever started us is gone. */
export function openPartnerDoor(hears: (message: unknown) => void, lost: () => void): PartnerDoor {
  let sending = Promise.resolve();
  process.on('message', hears);
  process.once('disconnect', lost);
  return {
    send(message) {
      const sent = new Promise<void>((resolve) => {
        if (!process.connected || process.send === undefined) return resolve();
        process.send(message, undefined, undefined, () => resolve());
      });
      sending = Promise.all([sending, sent]).then(() => {});
    },
    flush: () => sending,
  };
}

/** SIGTERM comes from a service manager, which does not wait for hours. */
const termGraceMs = 10_000;

export type Signals = { readonly finish: AbortSignal; readonly stop: AbortSignal; close(): void };

/** First signal: finish the iteration. Second, or ten seconds after a SIGTERM: stop the agent's tree now. */
export function listenForSignals(view: { signal(text: string): void }): Signals {
  const finish = new AbortController();
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    if (finish.signal.aborted) {
      view.signal('Stopping the agent now...');
      stop.abort();
      return;
    }
    view.signal('Received signal, shutting down...');
    finish.abort();
    if (signal !== 'SIGINT') timer = setTimeout(() => stop.abort(), termGraceMs);
  };

  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    finish: finish.signal,
    stop: stop.signal,
    close() {
      clearTimeout(timer);
      for (const name of names) process.off(name, onSignal);
    },
  };
}

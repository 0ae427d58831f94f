import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './stores.ts';

/** A long way to a port of this machine, as TCP shows it: what is lost comes late, and all behind it, too. */
export type Link = {
  readonly port: number;
  /** Nothing gets through for so long, in both directions; what was sent meanwhile comes after it. */
  stall(ms: number): void;
  /** The connections of now are dead and do not say so; new ones are not. */
  silence(): void;
  close(): Promise<void>;
};

export type LinkQuality = {
  /** Round trip in milliseconds. */
  readonly roundTripMs: number;
  /** Share of packets that are sent twice. */
  readonly loss: number;
};

export async function openLink(to: number, { roundTripMs, loss }: LinkQuality): Promise<Link> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const dead = new Set<Socket>();
  let stalledUntil = 0;

  /** Passes on what comes from one side, in order. */
  function carry(from: Socket, into: Socket): void {
    let before = Promise.resolve();
    from.on('data', (bytes) => {
      const isLost = Math.random() < loss;
      const due = performance.now() + roundTripMs / 2 + (isLost ? roundTripMs + 200 : 0);
      before = before.then(async () => {
        for (let at = Math.max(due, stalledUntil); at > performance.now(); at = Math.max(due, stalledUntil))
          await sleep(at - performance.now());
        if (!dead.has(from) && !into.destroyed) into.write(bytes);
      });
    });
  }

  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    const ends = [near, far] as const;
    for (const socket of ends) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        const isSilent = dead.has(socket);
        for (const other of ends) if (!isSilent || other === far) other.destroy();
      });
    }
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    port,
    stall(ms) {
      stalledUntil = performance.now() + ms;
    },
    silence() {
      for (const socket of sockets) dead.add(socket);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

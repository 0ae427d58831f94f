import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Address of a connection that stays open until the proxy closes. */
export const lifeline = 'ralph.alive:1';

/** Carries connections from the loopback inside to the proxy's socket, a file that both sides can reach. */
export async function carryInside(options: {
  readonly socket: string;
  readonly port: number;
  /** `host:port` outside that can be reached at the same port of the loopback inside. */
  readonly forwards: readonly string[];
  onLost(): void;
}): Promise<void> {
  const { socket, port, forwards, onLost } = options;
  await listen(
    port,
    createServer((inner) => join(inner, connect(socket))),
  );
  for (const place of forwards) {
    const server = createServer((inner) => {
      ask(socket, place, (outer) => (outer === null ? inner.destroy() : join(inner, outer)));
    });
    await listen(Number(place.slice(place.lastIndexOf(':') + 1)), server);
  }
  ask(socket, lifeline, (outer) => {
    if (outer === null) return onLost();
    outer.unref();
    outer.once('close', onLost).resume();
  });
}

function ask(socket: string, place: string, answer: (tunnel: Socket | null) => void): void {
  const outer = connect(socket);
  const fail = () => answer(null);
  outer.once('error', fail);
  outer.once('connect', () => outer.write(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n\r\n`));
  outer.once('data', (head: Buffer) => {
    outer.off('error', fail);
    outer.on('error', () => {});
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 || !head.toString('latin1').startsWith('HTTP/1.1 200 ')) {
      outer.destroy();
      return fail();
    }
    outer.pause();
    if (head.length > end + 4) outer.unshift(head.subarray(end + 4));
    answer(outer);
  });
}

function join(inner: Socket, outer: Socket): void {
  inner.pipe(outer).pipe(inner);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
  inner.once('close', () => outer.destroy());
  outer.once('close', () => inner.destroy());
}

async function listen(port: number, server: Server): Promise<void> {
  server.unref();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { lifeline } from './carry.ts';
import { parseHostRule } from './hosts.ts';
import { type Resolve, startProxy } from './proxy.ts';
import type { DeniedHost } from './sandbox.ts';

/** A server of this machine, and a proxy in front of it. */
async function setUp(allowed: (port: number) => string[], resolve?: Resolve) {
  const seen: string[] = [];
  const server = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url} ${asked.headers.host}`);
    asked.resume();
    answer.end('REACHED');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = makeTempDir('proxy-', tmpdir());
  const socket = join(folder, 's');
  const denied: DeniedHost[] = [];
  const proxy = await startProxy(socket, {
    rules: allowed(port).flatMap((text) => parseHostRule(text) ?? []),
    onDenied: (host) => denied.push(host),
    ...(resolve === undefined ? {} : { resolve }),
  });
  onTestFinished(async () => {
    await proxy.close();
    server.close();
    removeTempDir(folder);
  });
  return { port, socket, denied, seen, proxy };
}

/** What comes back when these bytes are sent. */
async function send(socket: string, text: string): Promise<string> {
  const client = connect(socket);
  client.on('error', () => {});
  let answer = '';
  client.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (answer.includes('REACHED')) client.end();
  });
  client.write(text);
  await once(client, 'close');
  return answer;
}

const get = (place: string, path = '/') =>
  `GET ${path} HTTP/1.1\r\nhost: ${place}\r\nconnection: close\r\n\r\n`;
const tunnel = (place: string) => `CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n\r\n`;

describe('the proxy', () => {
  it('opens a tunnel to a place of this machine that was named', async () => {
    const { socket, port, denied } = await setUp((own) => [`127.0.0.1:${own}`]);
    const answer = await send(socket, `${tunnel(`127.0.0.1:${port}`)}${get('x')}`);
    expect(answer).toMatch(/^HTTP\/1.1 200 Connection Established\r\n\r\nHTTP\/1.1 200 OK/);
    expect(denied).toEqual([]);
  });

  it('opens none to any other, and tells which it was', async () => {
    const { socket, port, denied, seen } = await setUp(() => ['example.com']);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433', '0x7f.1']) {
      expect(await send(socket, tunnel(`${host}:${port}`))).toContain('HTTP/1.1 403 ');
    }
    expect(denied[0]).toEqual({ host: '127.0.0.1', port, because: 'is not an allowed host' });
    expect(denied).toHaveLength(6);
    expect(seen).toEqual([]);
  });

  it.each(['127.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '10.0.0.1', '::1'])(
    'refuses an allowed name that leads to %s',
    async (address) => {
      const { socket, port, denied, seen } = await setUp(
        (own) => [`friend.example:${own}`],
        async () => [address],
      );
      const asked = `friend.example:${port}`;
      expect(await send(socket, tunnel(asked))).toContain('HTTP/1.1 403 ');
      expect(await send(socket, get('friend.example', `http://${asked}/`))).toContain('HTTP/1.1 403 ');
      expect(denied[0]).toMatchObject({ host: 'friend.example', because: expect.stringContaining(address) });
      expect(seen).toEqual([]);
    },
  );

  it('asks for the addresses of a name once, and takes none but those', async () => {
    let asked = 0;
    const { socket, port, seen } = await setUp(
      (own) => [`friend.example:${own}`],
      async () => {
        asked += 1;
        // The first answer is harmless, and nobody is there; a second one would lead here.
        return asked === 1 ? ['192.0.2.1'] : ['127.0.0.1'];
      },
    );
    expect(await send(socket, tunnel(`friend.example:${port}`))).toContain('HTTP/1.1 403 ');
    expect({ asked, seen }).toEqual({ asked: 1, seen: [] });
  });

  it('goes by the address of a plain request, not by its Host header', async () => {
    const { socket, port, seen } = await setUp((own) => [`127.0.0.1:${own}`]);
    const asked = `http://127.0.0.1:${port}/path?q`;
    expect(await send(socket, get('example.com', asked))).toContain('REACHED');
    expect(seen).toEqual([`GET /path?q 127.0.0.1:${port}`]);
    expect(await send(socket, get(`127.0.0.1:${port}`, 'http://other.example/'))).toContain('HTTP/1.1 403 ');
    expect(await send(socket, get(`127.0.0.1:${port}`, '/path'))).toContain('HTTP/1.1 400 ');
    expect(seen).toHaveLength(1);
  });

  it('is no way to another proxy behind an allowed host by a second CONNECT', async () => {
    const { socket, port, seen } = await setUp((own) => [`127.0.0.1:${own}`]);
    const inner = await send(socket, `${tunnel(`127.0.0.1:${port}`)}${tunnel('other.example:443')}`);
    // The second one is words for the server at the end of the tunnel, which is no proxy.
    expect(inner).not.toContain('REACHED');
    expect(inner.match(/Connection Established/g)).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  it('speaks no other protocol', async () => {
    const { socket } = await setUp(() => ['*']);
    const upgrade =
      'GET http://x.example/ HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    expect(await send(socket, upgrade)).toBe('');
    expect(await send(socket, 'garbage\r\n\r\n')).toBe('');
    expect(await send(socket, tunnel('no-port'))).toContain('HTTP/1.1 400 ');
  });

  it('says that a name does not exist, and denies nothing', async () => {
    const { socket, denied } = await setUp(
      () => ['gone.example'],
      async () => {
        throw new Error('ENOTFOUND');
      },
    );
    expect(await send(socket, tunnel('gone.example:443'))).toContain('HTTP/1.1 502 ');
    expect(denied).toEqual([]);
  });

  it('carries a body of some size unchanged', async () => {
    const { socket, port } = await setUp((own) => [`127.0.0.1:${own}`]);
    const answer = await new Promise<string>((resolve, reject) => {
      const path = `http://127.0.0.1:${port}/`;
      const asked = request({ socketPath: socket, path, method: 'POST' }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.once('end', () => resolve(text));
      });
      asked.once('error', reject);
      asked.end(Buffer.alloc(3_000_000, 'x'));
    });
    expect(answer).toBe('REACHED');
  });

  it.each(['099 Low', '101 Switching\r\nconnection: upgrade\r\nupgrade: x'])(
    'takes no harm from a host that answers %j',
    async (status) => {
      const host = createNetServer((client) => {
        client.on('error', () => {});
        client.once('data', () => client.write(`HTTP/1.1 ${status}\r\n\r\n`));
      });
      host.listen(0, '127.0.0.1');
      await once(host, 'listening');
      onTestFinished(() => void host.close());
      const place = `127.0.0.1:${(host.address() as AddressInfo).port}`;
      const { socket } = await setUp(() => [place]);
      expect(await send(socket, get('x', `http://${place}/`))).toContain('HTTP/1.1 502 ');
    },
  );

  it('goes on to the next address of a name where nobody is at the first', async () => {
    const { socket, port } = await setUp(
      (own) => [`localhost:${own}`],
      async () => ['127.0.0.2', '127.0.0.1'],
    );
    expect(await send(socket, `${tunnel(`localhost:${port}`)}${get('x')}`)).toContain('REACHED');
    expect(await send(socket, get('x', `http://localhost:${port}/`))).toContain('REACHED');
  });

  it.runIf(process.platform === 'linux')(
    'waits for an address that is slow, where the next one leads nowhere',
    async () => {
      // Its queue is full and it takes nobody for a second, so the kernel drops who knocks, who knocks again later.
      const slow = [
        "const server = require('node:net').createServer((client) =>",
        "  client.on('error', () => {}).once('data', () => client.end('REACHED')));",
        "server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {",
        "  require('node:fs').writeSync(1, String(server.address().port));",
        '  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);',
        '});',
      ].join('\n');
      const host = spawn(process.execPath, ['-e', slow], { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void host.kill('SIGKILL'));
      const [port] = await once(host.stdout, 'data');
      for (let n = 0; n < 4; n++) {
        const waiting = connect(Number(port), '127.0.0.1').on('error', () => {});
        onTestFinished(() => void waiting.destroy());
      }
      const { socket } = await setUp(
        () => [`localhost:${port}`],
        async () => ['127.0.0.1', '::1'],
      );
      // Speaks first: a full queue may forget a client that is connected (a SYN cookie), until that one sends something.
      expect(await send(socket, `${tunnel(`localhost:${port}`)}hello`)).toContain('REACHED');
    },
  );

  it('leaves the loop its files, however many connections are opened', async () => {
    const { socket, port } = await setUp((own) => [`127.0.0.1:${own}`]);
    const clients = await Promise.all(
      Array.from({ length: 400 }, async () => {
        const client = connect(socket);
        client.on('error', () => {});
        await once(client, 'connect');
        return client;
      }),
    );
    await vi.waitFor(() =>
      expect(clients.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(144),
    );
    for (const client of clients) client.destroy();
    await vi.waitFor(async () =>
      expect(await send(socket, get('x', `http://127.0.0.1:${port}/`))).toContain('REACHED'),
    );
  });

  it('keeps a lifeline open until it closes itself', async () => {
    const { socket, proxy } = await setUp(() => []);
    const client = connect(socket);
    client.on('error', () => {});
    client.write(tunnel(lifeline));
    await once(client, 'data');
    const closed = once(client, 'close');
    await proxy.close();
    await closed;
    expect(client.destroyed).toBe(true);
  });
});

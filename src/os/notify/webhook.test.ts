import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { noticeOf } from '../../core/notice.ts';
import { postNotice } from './webhook.ts';

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server that answers with these statuses in turn, the last one for ever; 0 cuts the connection. */
async function hookWith(...statuses: number[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body });
    const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 200;
    if (status === 0) request.socket.destroy();
    else response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(1000));
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/secret-path?token=abc`, received };
}

const notice = noticeOf({
  kind: 'blocked',
  because: 'I need the key "x" \u{1f511}\n</script>',
  run: 'r1',
  project: 'shop',
  at: '2026-01-01T00:00:00.000Z',
});
const world = { version: '1.2.3' };
const pauses = [1, 1];

describe('postNotice', () => {
  it('sends JSON whose signature the receiver can check', async () => {
    const { url, received } = await hookWith(204);
    const result = await postNotice(notice, { url, secret: 'top secret', pauses }, world);
    expect(result).toEqual({ ok: true, detail: 'answered with status 204' });
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const signed = createHmac('sha256', 'top secret').update(`${headers['x-ralph-timestamp']}.${body}`);
    expect(headers['x-ralph-signature']).toBe(`sha256=${signed.digest('hex')}`);
    expect(JSON.parse(body)).toMatchObject({
      v: 1,
      id: headers['x-ralph-delivery'],
      kind: 'blocked',
      title: 'ralph: shop blocked, needs you',
      body: 'I need the key "x" \u{1f511} </script>',
      run: 'r1',
    });
    expect(body).not.toContain('top secret');
  });

  it('is not signed without a secret', async () => {
    const { url, received } = await hookWith(200);
    await postNotice(notice, { url, pauses }, world);
    expect(received[0]?.headers).not.toHaveProperty('x-ralph-signature');
  });

  it('tries again after a failure of the server or the line, as the same delivery', async () => {
    const { url, received } = await hookWith(503, 0, 200);
    const result = await postNotice(notice, { url, pauses }, world);
    expect(result).toEqual({ ok: true, detail: 'answered with status 200 (3 attempts)' });
    expect(new Set(received.map(({ headers }) => headers['x-ralph-delivery'])).size).toBe(1);
  });

  it('gives up after three attempts', async () => {
    const { url, received } = await hookWith(500);
    const result = await postNotice(notice, { url, pauses }, world);
    expect(result).toEqual({ ok: false, detail: 'answered with status 500 (3 attempts)' });
    expect(received).toHaveLength(3);
  });

  it.each([302, 400, 401, 404])('neither repeats nor follows a %d', async (status) => {
    const { url, received } = await hookWith(status);
    const result = await postNotice(notice, { url, pauses }, world);
    expect(result).toEqual({ ok: false, detail: `answered with status ${status}` });
    expect(received).toHaveLength(1);
  });

  it('names neither the address nor the secret when nobody answers', async () => {
    const { url } = await hookWith(200);
    for (const server of servers.splice(0)) server.close();
    const result = await postNotice(notice, { url, secret: 'top secret', pauses }, world);
    expect(result).toEqual({ ok: false, detail: 'the connection was refused (3 attempts)' });
  });

  it('gives up at once when the run has to stop', async () => {
    const stop = new AbortController();
    const server = createServer(() => stop.abort());
    servers.push(server);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const result = await postNotice(notice, { url }, { ...world, stop: stop.signal });
    expect(result).toEqual({ ok: false, detail: 'given up because the run was stopped' });
  });
});

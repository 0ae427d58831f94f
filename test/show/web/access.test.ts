import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Dashboard, makeWorld, serve } from './browser.ts';
import { shopRun } from './scenes.ts';

type Answer = { readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly body: string };

/** As any program would ask: no header comes by itself but the host. */
function ask(
  { port }: Dashboard,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((done, fail) => {
    const request = http.request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        done({ status: statusCode, headers, body: Buffer.concat(parts).toString() });
      });
    });
    request.on('error', fail);
    request.end(body);
  });
}

const bearer = ({ token }: Dashboard) => ({ Authorization: `Bearer ${token}` });
const run = '20261114-213000-001abc';

async function dashboard(): Promise<Dashboard> {
  const world = makeWorld();
  shopRun(world.cwd, run);
  return serve(world, { actions: async (_source, action) => ({ ok: true, told: action.action }) });
}

describe('who reaches the dashboard', () => {
  it('is on the loopback address, with a new token at each start', async () => {
    const [one, two] = [await dashboard(), await dashboard()];
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
    expect(one.token).not.toBe(two.token);
    expect((await ask(one, '/api/loops', { headers: bearer(two) })).status).toBe(401);
    expect((await ask(one, '/api/loops', { headers: bearer(one) })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
    '127.0.0.1:PORT@evil.example',
    '[::1]:PORT',
    '0.0.0.0:PORT',
    '2130706433:PORT',
  ])('refuses the host %j on every route, before it looks at anything else', async (name) => {
    const server = await dashboard();
    const headers = { ...bearer(server), Host: name.replace('PORT', String(server.port)) };
    for (const path of ['/', '/app.js', '/app.css', '/api/info', '/api/loops', '/api/stream', '/nothing']) {
      expect((await ask(server, path, { headers })).status).toBeGreaterThanOrEqual(400);
      expect((await ask(server, path, { headers })).body).not.toContain(run);
    }
    const body = '{"action":"stop"}';
    const post = {
      ...headers,
      Origin: `http://127.0.0.1:${server.port}`,
      'Content-Type': 'application/json',
    };
    const path = `/api/loops/${run}/actions`;
    expect((await ask(server, path, { method: 'POST', headers: post, body })).status).toBeGreaterThanOrEqual(
      400,
    );
  });

  it('tells nothing without the token', async () => {
    const server = await dashboard();
    const shown = [
      {},
      { Authorization: 'Bearer ' },
      { Authorization: `Basic ${server.token}` },
      { Cookie: `token=${server.token}` },
    ];
    for (const path of [
      '/api/info',
      '/api/loops',
      `/api/loops/${run}`,
      '/api/stream',
      `/api/loops?token=${server.token}`,
    ]) {
      for (const headers of shown) {
        const { status, body } = await ask(server, path, { headers });
        expect(status).toBe(401);
        expect(body).not.toContain(run);
      }
    }
  });

  it('takes a change only from its own page, as JSON, with the token', async () => {
    const server = await dashboard();
    const path = `/api/loops/${run}/actions`;
    const body = '{"action":"stop"}';
    const json = { 'Content-Type': 'application/json' };
    const own = { Origin: `http://127.0.0.1:${server.port}` };
    const status = async (headers: Record<string, string>, text = body) =>
      (await ask(server, path, { method: 'POST', headers, body: text })).status;
    expect(await status({ ...bearer(server), ...json, ...own })).toBe(200);
    expect(await status({ ...bearer(server), ...json })).toBe(403);
    expect(await status({ ...json, ...own })).toBe(401);
    expect(await status({ ...bearer(server), ...own })).toBe(415);
    expect(await status({ ...bearer(server), ...own, 'Content-Type': 'text/plain' })).toBe(415);
    for (const origin of [
      'null',
      'http://evil.example',
      `https://127.0.0.1:${server.port}`,
      'http://127.0.0.1:1',
    ]) {
      expect(await status({ ...bearer(server), ...json, Origin: origin })).toBe(403);
    }
    for (const text of [
      '',
      '[]',
      '{"action":"rm"}',
      '{"action":"note"}',
      '{"action":"note","text":" "}',
      '{',
    ]) {
      expect(await status({ ...bearer(server), ...json, ...own }, text)).toBe(400);
    }
    expect(await status({ ...bearer(server), ...json, ...own }, `"${'x'.repeat(100_000)}"`)).toBe(413);
  });

  it('changes nothing without --control', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const server = await serve(world);
    const headers = {
      ...bearer(server),
      Origin: `http://127.0.0.1:${server.port}`,
      'Content-Type': 'application/json',
    };
    const answer = await ask(server, `/api/loops/${run}/actions`, {
      method: 'POST',
      headers,
      body: '{"action":"stop"}',
    });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('--control');
  });

  it('opens nothing to other sites, and lets the page load nothing from elsewhere', async () => {
    const server = await dashboard();
    for (const path of ['/', '/app.js', '/api/info', '/nothing']) {
      const { headers } = await ask(server, path, { headers: bearer(server) });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    }
    for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE']) {
      expect((await ask(server, '/api/loops', { method, headers: bearer(server) })).status).toBe(405);
    }
  });

  it.each([
    '/../package.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/app.js/../../ralph.cjs',
    '/api/loops/..%2f..%2fetc%2fpasswd',
    `/api/loops/${run}/iterations/0/logs/..%2f..%2fetc%2fpasswd`,
    `/api/loops/${run}/iterations/-1`,
    `/api/loops/${run}/iterations/0/logs/guardrail-999`,
    '/api/loops/__proto__',
    '/constructor',
    '/%',
    '/api/%ff',
    '//evil.example/',
  ])('finds nothing at %s', async (path) => {
    const server = await dashboard();
    const { status, body } = await ask(server, path, { headers: bearer(server) });
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/root:|ralphkit"/);
  });

  it('reads no log through a link, and none that a later run has written over', async () => {
    const world = makeWorld();
    const journal = shopRun(world.cwd, run);
    const ended = journal.events.find((event) => event.type === 'guardrail.ended');
    const log = ended?.type === 'guardrail.ended' ? `${world.cwd}/${ended.log}` : '';
    const server = await serve(world);
    const read = async () =>
      JSON.parse(
        (await ask(server, `/api/loops/${run}/iterations/0/logs/guardrail-0`, { headers: bearer(server) }))
          .body,
      );
    mkdirSync(`${world.cwd}/.ralph`, { recursive: true });
    writeFileSync(log, '214 passed\n');
    expect(await read()).toEqual({ kind: 'replaced' });
    const at = new Date(ended?.at ?? 0);
    utimesSync(log, at, at);
    expect(await read()).toEqual({ kind: 'text', text: '214 passed\n', truncated: false });
    rmSync(log);
    symlinkSync('/etc/passwd', log);
    expect(await read()).toEqual({ kind: 'missing' });
  });
});

import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asRecord, list } from '../../../src/agents/json.ts';
import type { ModelAnswer, ModelScript } from './script.ts';
import { type ModelServerOptions, startModelServer } from './server.ts';
import type { ApiName } from './wire.ts';

type Client = {
  readonly path: (stream: boolean) => string;
  readonly tools: unknown;
  /** The text in an answer in one piece. */
  readonly whole: (body: unknown) => unknown;
  /** The text in an event. */
  readonly delta: (event: unknown) => unknown;
};

const dig = (value: unknown, ...keys: (string | number)[]): unknown =>
  keys.reduce<unknown>((at, key) => (typeof key === 'number' ? list(at)[key] : asRecord(at)[key]), value);
const shell = { properties: { command: { type: 'string' } }, required: ['command'] };

const clients: Record<ApiName, Client> = {
  anthropic: {
    path: () => '/v1/messages?beta=true',
    tools: [{ name: 'Bash', input_schema: shell }],
    whole: (body) => dig(body, 'content', 0, 'text'),
    delta: (event) => dig(event, 'delta', 'text'),
  },
  chat: {
    path: () => '/v1/chat/completions',
    tools: [{ type: 'function', function: { name: 'bash', parameters: shell } }],
    whole: (body) => dig(body, 'choices', 0, 'message', 'content'),
    delta: (event) => dig(event, 'choices', 0, 'delta', 'content'),
  },
  responses: {
    path: () => '/v1/responses',
    tools: [{ type: 'function', name: 'shell', parameters: shell }],
    whole: (body) => dig(body, 'output', 0, 'content', 0, 'text'),
    delta: (event) => (dig(event, 'type') === 'response.output_text.delta' ? dig(event, 'delta') : undefined),
  },
  gemini: {
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    tools: [{ functionDeclarations: [{ name: 'run_shell_command', parametersJsonSchema: shell }] }],
    whole: (body) => dig(body, 'candidates', 0, 'content', 'parts', 0, 'text'),
    delta: (event) => dig(event, 'candidates', 0, 'content', 'parts', 0, 'text'),
  },
};
const apis = Object.keys(clients).filter((name): name is ApiName => Object.hasOwn(clients, name));

async function serverWith(answers: ModelScript['answers'], options: Partial<ModelServerOptions> = {}) {
  const server = await startModelServer({ script: { answers }, ...options });
  onTestFinished(() => server.close());
  return {
    ...server,
    post: (path: string, body: unknown) =>
      fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) }),
    ask(api: ApiName, { stream = false, more = {} }: { stream?: boolean; more?: object } = {}) {
      const { path, tools } = clients[api];
      return this.post(path(stream), { stream, tools, ...more });
    },
  };
}

function eventsIn(text: string): unknown[] {
  const data = text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
  return data.map((line): unknown => JSON.parse(line.slice('data: '.length)));
}

const says = (text: string): ModelAnswer => ({ blocks: [{ text }] });

describe.each(apis)('the model server as %s', (api) => {
  const { whole, delta } = clients[api];

  it('says any text, in one piece and in pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (text) => {
        const server = await serverWith([says(text)]);
        expect(whole(await (await server.ask(api)).json())).toBe(text);
        const deltas = eventsIn(await (await server.ask(api, { stream: true })).text()).map(delta);
        expect(deltas.filter((piece) => typeof piece === 'string').join('')).toBe(text);
      }),
      { numRuns: 15 },
    );
  });

  it('tears a tag apart in a stream', async () => {
    const server = await serverWith([says('All finished. <promise>DONE</promise>')]);
    const deltas = eventsIn(await (await server.ask(api, { stream: true })).text()).map(delta);
    expect(deltas.some((piece) => String(piece).includes('<promise>DONE</promise>'))).toBe(false);
  });

  it('calls the tool that the client offers, after it thought and waited', async () => {
    const blocks = [{ thinking: 'Hm.' }, { delay: 1 }, { shell: 'ls -l' }];
    const server = await serverWith([{ blocks }]);
    const name = { anthropic: 'Bash', chat: 'bash', responses: 'shell', gemini: 'run_shell_command' }[api];
    const one = await (await server.ask(api)).text();
    const many = await (await server.ask(api, { stream: true })).text();
    for (const answer of [one, many]) {
      expect(answer).toContain(`"name":"${name}"`);
      expect(answer).toContain('ls -l');
      expect(answer.indexOf('Hm.')).toBeLessThan(answer.indexOf('ls -l'));
    }
  });

  it('tells the tokens of the script', async () => {
    const usage = { inputTokens: 111, outputTokens: 222, cacheReadTokens: 0 };
    const server = await serverWith([{ blocks: [], usage }]);
    for (const stream of [false, true]) {
      const answer = await (await server.ask(api, { stream })).text();
      expect(answer).toMatch(/:111\b/);
      expect(answer).toMatch(/:222\b/);
    }
  });

  it('fails as the script says', async () => {
    const headers = { 'retry-after': '7' };
    const server = await serverWith([
      { error: { status: 529, type: 'overloaded_error', message: 'Too much', headers } },
      { error: { status: 400, body: { own: 'words' } } },
    ]);
    const first = await server.ask(api, { stream: true });
    expect([first.status, first.headers.get('retry-after')]).toEqual([529, '7']);
    expect(dig(await first.json(), 'error', 'message')).toBe('Too much');
    const second = await server.ask(api);
    expect([second.status, await second.json()]).toEqual([400, { own: 'words' }]);
  });

  it('refuses with status 429 while the limit lasts', async () => {
    const server = await serverWith([{ limit: { seconds: 3600 } }]);
    const statuses = [await server.ask(api), await server.ask(api)].map(({ status }) => status);
    expect(statuses).toEqual([429, 429]);
  });

  it('gives a request without tools a title, and keeps the answer for the work', async () => {
    const server = await serverWith([says('The work.'), says('More.')]);
    const side = await server.ask(api, { more: { tools: undefined } });
    expect(whole(await side.json())).toContain('title');
    expect(whole(await (await server.ask(api)).json())).toBe('The work.');
    expect(server.requests().map(({ answer }) => answer)).toEqual([null, 0]);
  });

  it('can break off in the middle', async () => {
    const server = await serverWith([{ blocks: [{ text: 'Half of it' }], cut: true }]);
    const response = await server.ask(api, { stream: true });
    await expect(response.text()).rejects.toThrow();
  });
});

describe('the model server', () => {
  it('remembers what it was asked', async () => {
    const server = await serverWith([says('x')]);
    await server.ask('anthropic', { more: { messages: [{ content: [{ text: 'Say "x"' }] }] } });
    expect(server.requests()).toMatchObject([
      {
        api: 'anthropic',
        path: '/v1/messages?beta=true',
        answer: 0,
        text: expect.stringContaining('Say "x"'),
      },
    ]);
  });

  it('fills in a tool that the client forces, and keeps the answer', async () => {
    const server = await serverWith([says('The work.')]);
    const title = { properties: { title: { type: 'string' } }, required: ['title'] };
    const tools = [{ name: 'set_title', input_schema: title }];
    const more = { tools, tool_choice: { type: 'tool', name: 'set_title' } };
    const answer = await (await server.ask('anthropic', { more })).json();
    expect(dig(answer, 'content', 0)).toMatchObject({ name: 'set_title', input: { title: 'scripted' } });
    expect(server.requests()[0]?.answer).toBeNull();
  });

  it('answers fixed routes, those with a query first, and no others', async () => {
    const routes = { '/api/internal': { any: true }, '/api/internal?who': { user: 'me' } };
    const server = await serverWith([says('x')], { routes });
    const get = async (path: string) => (await server.post(path, {})).json();
    expect(await get('/api/internal?who')).toEqual({ user: 'me' });
    expect(await get('/api/internal?other')).toEqual({ any: true });
    expect((await server.post('/api/else', {})).status).toBe(404);
    expect(server.requests().map(({ api }) => api)).toEqual([null, null, null]);
  });

  it('says what is wrong where the client offers no such tool', async () => {
    const server = await serverWith([{ blocks: [{ shell: 'ls' }] }]);
    const response = await server.ask('anthropic', { more: { tools: [{ name: 'Look' }] } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('it offers Look');
  });

  it('closes while a client still waits', async () => {
    const server = await startModelServer({ script: { answers: [{ blocks: [{ hang: true }] }] } });
    const { path, tools } = clients.chat;
    const waiting = fetch(`${server.url}${path(false)}`, { method: 'POST', body: JSON.stringify({ tools }) });
    const broken = expect(waiting).rejects.toThrow();
    while (server.requests().length === 0) await new Promise((done) => setTimeout(done, 5));
    await server.close();
    await broken;
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('can be reached on the loopback only', async () => {
    const { port } = await serverWith([says('x')]);
    const refused = new Promise((done) => {
      const socket = connect(port, '127.0.0.2');
      socket.once('error', () => done(true));
      socket.once('connect', () => done(false));
    });
    expect(await refused).toBe(true);
  });

  it.each([
    [{ answers: [] }, 'answers has to be a list with at least one entry'],
    [{ answers: [{ text: 'x' }] }, 'answers[0].blocks is missing'],
    [
      { answers: [{ blocks: [{ text: 'x', shell: 'y' }] }] },
      'answers[0].blocks[0] has to be an object with one key',
    ],
    [{ answers: [{ error: { status: 200 } }] }, 'answers[0].error.status has to be an HTTP status'],
    [{ answers: [{ limit: { seconds: 0 } }] }, 'answers[0].limit.seconds has to be a number above 0'],
  ])('refuses the script %j', async (script, problem) => {
    await expect(startModelServer({ script: Object(script) })).rejects.toThrow(problem);
  });
});

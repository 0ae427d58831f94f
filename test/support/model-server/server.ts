import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { asRecord, type JsonRecord, parseRecord, str } from '../../../src/agents/json.ts';
import { messageOf } from '../../../src/core/error.ts';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { createPlayer } from './player.ts';
import { replyOf, sideReply } from './reply.ts';
import { responses } from './responses.ts';
import { assertModelScript, type ModelScript } from './script.ts';
import { send, sendError, sendJson } from './send.ts';
import type { ApiName, Reply, WireApi } from './wire.ts';

export type ModelServerOptions = {
  readonly script: ModelScript;
  /** Fixed answers of other paths, such as those of a vendor's own service; with `?query` they go before those without. */
  readonly routes?: Readonly<Record<string, unknown>>;
};

type ModelRequest = {
  /** Null for a path that is no model. */
  readonly api: ApiName | null;
  readonly path: string;
  /** Which answer of the script it got; null where it took none, such as a request for a title. */
  readonly answer: number | null;
  readonly body: JsonRecord;
  /** Every text in the body. */
  readonly text: string;
};

export type ModelServer = {
  readonly url: string;
  readonly port: number;
  /** The requests so far, in order; of very many only the latest. */
  requests(): readonly ModelRequest[];
  close(): Promise<void>;
};

const apis: readonly WireApi[] = [anthropic, chat, responses, gemini];
const maxRequests = 500;
const maxBodyBytes = 64 * 1024 * 1024;

/** Starts a model on the loopback that says what the script says, in the words of whichever API it is asked. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { script, routes = {} } = options;
  assertModelScript(script);
  const serve = createPlayer(script, () => Date.now());
  const seen: ModelRequest[] = [];
  const closing = new AbortController();
  let count = 0;

  function note(request: Omit<ModelRequest, 'text'>): void {
    seen.push({
      ...request,
      get text() {
        return textsIn(request.body).join('\n');
      },
    });
    if (seen.length > maxRequests) seen.shift();
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '/' } = request;
    const path = url.split('?')[0] ?? '/';
    const body = await readBody(request);
    if (body === null) return sendJson(response, 413, { error: { message: 'the request is too large' } });
    const fixed = routes[url] ?? routes[path] ?? (method === 'GET' ? modelList(path) : countedTokens(path));
    const api = method === 'POST' ? apis.find((known) => known.serves(path)) : undefined;
    if (fixed !== undefined || api === undefined) {
      note({ api: null, path: url, answer: null, body });
      const missing = { error: { type: 'not_found_error', message: `no such route: ${url}` } };
      return sendJson(response, fixed === undefined ? 404 : 200, fixed ?? missing);
    }

    count += 1;
    const tools = api.tools(body);
    const about = { id: count, model: str(body.model) ?? 'scripted-model', tools };
    const stream = body.stream === true || /:stream/i.test(path);
    const write = (reply: Reply, cut = false) =>
      send(response, api, reply, { stream, cut, stop: closing.signal });
    const forced = tools.find(({ name }) => name === asRecord(body.tool_choice).name);
    if (tools.length === 0 || forced) {
      note({ api: api.name, path: url, answer: null, body });
      return write(sideReply(forced, about));
    }
    const served = serve();
    note({ api: api.name, path: url, answer: served.index, body });
    if ('error' in served) return sendError(response, api, served.error);
    if ('limitedUntil' in served) return sendError(response, api, api.limit(served.limitedUntil));
    return write(replyOf(served.answer, about), served.answer.cut);
  }

  const server = createServer((request, response) => {
    response.on('error', () => {}); // The client may leave at any time.
    respond(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendJson(response, 400, { error: { type: 'invalid_request_error', message: messageOf(error) } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: () => [...seen],
    close() {
      closing.abort();
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<JsonRecord | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return size > maxBodyBytes ? null : (parseRecord(Buffer.concat(chunks).toString('utf8')) ?? {});
}

/** What clients ask for besides answers. */
function modelList(path: string): JsonRecord | undefined {
  if (!path.endsWith('/models')) return undefined;
  return {
    object: 'list',
    data: [{ id: 'scripted-model', object: 'model', created: 0, owned_by: 'test' }],
    models: [],
  };
}

function countedTokens(path: string): JsonRecord | undefined {
  return /count_?tokens$/i.test(path) ? { input_tokens: 1000, totalTokens: 1000 } : undefined;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

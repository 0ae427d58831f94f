import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import { messageOf, RalphError } from '../../core/error.ts';
import type { Environment } from '../../os/process/program.ts';
import { type Door, refuseStranger, refuseUnknown, safeHeaders } from './access.ts';
import { type Action, readAction } from './actions.ts';
import type { Actions } from './control.ts';
import { findCheck, readCheckLog, readDetails } from './details.ts';
import { type Library, openLibrary } from './library.ts';
import type { Page } from './page.ts';
import type { LoopSource, Sources } from './sources.ts';
import { createStreams, type Streams, streamHeaders } from './stream.ts';

export type DashboardOptions = {
  readonly env: Environment;
  readonly cwd: string;
  readonly page: Page;
  readonly version: string;
  readonly now: () => number;
  /** The command that serves it, for what to type next. */
  readonly program: 'ralph' | 'swarm';
  /** 0 takes any that is free. */
  readonly port: number;
  /** Carries out actions on loops; null if the page is read-only. */
  readonly actions: Actions | null;
  /** The screen of a worker, with its colours; null where there is none. */
  readonly screen: (worker: string) => Promise<string | null>;
  /** Another fleet than that of this machine. */
  readonly fleet?: () => Promise<Sources>;
};

export type Dashboard = {
  /** For a browser: the token stands behind the `#`, so that it is in no request and in no log. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  close(): Promise<void>;
};

type Request = http.IncomingMessage;
type Response = http.ServerResponse;

/** Everything that an answer is made from. */
type Site = {
  readonly door: Door;
  readonly options: DashboardOptions;
  readonly library: Library;
  readonly streams: Streams;
};

const maxBodyBytes = 64 * 1024;
const noLoop = 'there is no such loop';

/** Serves the page and its data on the loopback address. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const token = randomBytes(24).toString('base64url');
  const { env, cwd, now } = options;
  const fleet = options.fleet === undefined ? {} : { fleet: options.fleet };
  const library = await openLibrary({ env, cwd, now, withFleet: true, ...fleet });
  const streams = createStreams(library);
  const door: { port: number; token: string } = { port: options.port, token };
  const site: Site = { door, options, library, streams };
  const server = http.createServer((request, response) => {
    answer(request, response, site).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, messageOf(error));
    });
  });
  await listen(server, options);
  const address = server.address();
  door.port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    url: `http://127.0.0.1:${door.port}/#token=${token}`,
    port: door.port,
    token,
    close: () =>
      new Promise((done) => {
        streams.close();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function listen(server: http.Server, { port, program }: DashboardOptions): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? `port ${port} is taken` : messageOf(error);
      const remedy = `${program} dashboard`;
      fail(new RalphError('dashboard-port', `the dashboard cannot start: ${why}`, { remedy }));
    });
    server.listen(port, '127.0.0.1', done);
  });
}

async function answer(request: Request, response: Response, site: Site): Promise<void> {
  const { door, options, library, streams } = site;
  for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
  const stranger = refuseStranger(request, door);
  if (stranger) return fail(response, stranger.status, stranger.why);
  const url = readUrl(request.url);
  if (url === null) return fail(response, 400, 'this is no address');
  const [first, ...rest] = url.segments;
  if (first !== 'api') return servePage(request, response, url.segments, options.page);
  const unknown = refuseUnknown(request, door);
  if (unknown) return fail(response, unknown.status, unknown.why);
  if (request.method === 'POST') return act(request, response, rest, site);
  if (rest[0] === 'info' && rest.length === 1)
    return json(response, 200, { version: options.version, control: options.actions !== null });
  if (rest[0] === 'stream' && rest.length === 1) {
    const loop = url.query.get('loop');
    if (loop !== null && (await findNow(library, loop)) === null) return fail(response, 404, noLoop);
    if (request.method === 'HEAD') return void response.writeHead(200, streamHeaders).end();
    return streams.open(response, loop, readSeq(request.headers['last-event-id']));
  }
  if (rest[0] === 'loops') return serveLoop(response, rest.slice(1), options, library);
  return fail(response, 404, 'there is nothing here');
}

async function serveLoop(
  response: Response,
  [id, part, index, what, name]: readonly string[],
  options: DashboardOptions,
  library: Library,
): Promise<void> {
  if (id === undefined) {
    await library.list();
    const { trouble } = library.changedSince(-1);
    return json(response, 200, { loops: library.summaries(), trouble });
  }
  const source = await findNow(library, id);
  const view = library.view(id);
  if (source === null || view === null) return fail(response, 404, noLoop);
  if (part === undefined) return json(response, 200, view);
  if (part === 'terminal' && index === undefined && source.worker !== null) {
    return json(response, 200, { screen: await options.screen(source.worker.worker.name) });
  }
  const one =
    part === 'iterations' && /^\d{1,6}$/.test(index ?? '') ? view.iterations[Number(index)] : undefined;
  if (one === undefined) return fail(response, 404, 'there is no such iteration');
  if (what === undefined) return json(response, 200, await readDetails(source.folder, view, one));
  const check = what === 'logs' ? findCheck(one, name ?? '') : null;
  if (check === null) return fail(response, 404, 'there is no such check');
  return json(response, 200, readCheckLog(source.folder, check));
}

async function act(
  request: Request,
  response: Response,
  [loops, id = '', last, ...more]: readonly string[],
  { options: { actions }, library }: Site,
): Promise<void> {
  if (loops !== 'loops' || last !== 'actions' || more.length > 0)
    return fail(response, 404, 'there is nothing here');
  if (actions === null)
    return fail(response, 403, 'this dashboard only shows: start it with --control to change');
  const body = await readBody(request);
  if (body === null) return fail(response, 413, 'that is too much');
  const action: Action | string = readAction(body);
  if (typeof action === 'string') return fail(response, 400, action);
  // Nothing is done to a loop as it was a while ago.
  await library.list();
  library.view(id);
  const source = library.find(id);
  if (source === null) return fail(response, 404, noLoop);
  const done = await actions(source, action);
  return done.ok ? json(response, 200, { told: done.told }) : fail(response, 409, done.told);
}

/** A loop that began a moment ago may not be on the list yet. */
async function findNow(library: Library, id: string): Promise<LoopSource | null> {
  const known = library.find(id);
  if (known !== null) return known;
  await library.list();
  return library.find(id);
}

/** Who has seen nothing yet is told everything, be it ever so little. */
function readSeq(header: string | string[] | undefined): number {
  const seq = typeof header === 'string' && header !== '' ? Number(header) : -1;
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : -1;
}

function servePage(request: Request, response: Response, segments: readonly string[], page: Page): void {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '': ['text/html', page.html],
    'app.js': ['text/javascript', page.script],
    'app.css': ['text/css', page.style],
  };
  const path = segments.join('/');
  const file = request.method !== 'POST' && Object.hasOwn(files, path) ? files[path] : undefined;
  if (file === undefined) {
    fail(response, 404, 'there is nothing here');
    return;
  }
  response.writeHead(200, { 'Content-Type': `${file[0]}; charset=utf-8` }).end(file[1]);
}

/** The decoded parts of a path, none of which is ever used as the name of a file. */
function readUrl(target = ''): { segments: string[]; query: URLSearchParams } | null {
  if (!target.startsWith('/')) return null;
  const [path = '', query = ''] = target.split('?', 2);
  try {
    return { segments: path.slice(1).split('/').map(decodeURIComponent), query: new URLSearchParams(query) };
  } catch {
    return null;
  }
}

async function readBody(request: Request): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function json(response: Response, status: number, value: unknown): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));
}

function fail(response: Response, status: number, message: string): void {
  json(response, status, { error: { message } });
}

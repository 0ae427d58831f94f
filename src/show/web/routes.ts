import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { IterationView, RunView } from '../../journal/run-view.ts';
import { fileAt } from '../../os/git/git-diff.ts';
import type { Environment } from '../../os/process/program.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { resultOf } from '../result.ts';
import { type Door, refuseUnknown } from './access.ts';
import { readAction } from './actions.ts';
import type { Actions } from './control.ts';
import { readChanges, readCheckLog, readDetails } from './details.ts';
import type { Library } from './library.ts';
import type { Page } from './page.ts';
import type { LoopSource, Sources } from './sources.ts';
import { type Streams, streamHeaders } from './stream.ts';
import { checksOf } from './summary.ts';
import { readTranscript } from './transcript.ts';

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

type Site = {
  readonly door: Door;
  readonly options: DashboardOptions;
  readonly library: Library;
  readonly streams: Streams;
  readonly redactor: Redactor;
};

type Request = Context<{ Bindings: HttpBindings }>;
type Loop = {
  readonly source: LoopSource;
  readonly view: RunView;
  readonly folder: string;
  readonly redactor: Redactor;
};
type Status = ConstructorParameters<typeof HTTPException>[0];

const maxBodyBytes = 64 * 1024;
const noLoop = 'there is no such loop';

type App = Hono<{ Bindings: HttpBindings }>;

/** Routes of the page and its data. Strangers are refused before a request comes here. */
export function createRoutes(site: Site): App {
  const { door, options, library, streams } = site;
  const app: App = new Hono();
  servePage(app, options);
  app.use('/api/*', async (c, next) => {
    const unknown = refuseUnknown(c.env.incoming, door);
    return unknown ? refuse(unknown.status, unknown.why) : next();
  });
  app.get('/api/info', (c) => c.json({ version: options.version, control: options.actions !== null }));
  app.get('/api/stream', async (c) => {
    const id = c.req.query('loop') ?? null;
    if (id !== null && (await findNow(library, id)) === null) refuse(404, noLoop);
    if (c.req.method === 'HEAD') return c.body(null, 200, streamHeaders);
    streams.open(c.env.outgoing, id, readSeq(c.req.header('Last-Event-ID')));
    return RESPONSE_ALREADY_SENT;
  });
  app.get('/api/loops', async (c) => {
    await library.list();
    return c.json({ loops: library.summaries(), trouble: library.trouble });
  });
  app.get('/api/figures', async (c) => {
    await library.list();
    return c.json(library.figures());
  });
  serveLoop(app, site);
  serveIteration(app, site);
  app.notFound((c) => c.json({ error: { message: 'there is nothing here' } }, 404));
  app.onError((error, c) => {
    const status = error instanceof HTTPException ? error.status : 500;
    return c.json({ error: { message: error.message } }, status);
  });
  return app;
}

async function loopOf(c: Request, { library, redactor }: Site): Promise<Loop> {
  const id = c.req.param('id') ?? '';
  const source = await findNow(library, id);
  const view = library.view(id);
  if (source === null || view === null) return refuse(404, noLoop);
  return { source, view, folder: source.folder, redactor };
}

function serveLoop(app: App, site: Site): void {
  const { options, library } = site;
  app.get('/api/loops/:id', async (c) => c.json((await loopOf(c, site)).view));
  app.get('/api/loops/:id/result', async (c) => {
    const { folder, view } = await loopOf(c, site);
    return c.json(await resultOf(folder, view));
  });
  app.get('/api/loops/:id/changes', async (c) => c.json(await readChanges(await loopOf(c, site), undefined)));
  app.get('/api/loops/:id/terminal', async (c) => {
    const { source } = await loopOf(c, site);
    if (source.worker === null) return refuse(404, 'it has no terminal');
    return c.json({ screen: await options.screen(source.worker.worker.name) });
  });
  const tooMuch = () => refuse(413, 'that is too much');
  app.post('/api/loops/:id/actions', bodyLimit({ maxSize: maxBodyBytes, onError: tooMuch }), async (c) => {
    if (options.actions === null)
      return refuse(403, 'this dashboard only shows: start it with --control to change');
    const action = readAction(await c.req.text());
    if (typeof action === 'string') return refuse(400, action);
    // Nothing is done to a loop as it was a while ago.
    await library.list();
    const { source } = await loopOf(c, site);
    const { ok, told } = await options.actions(source, action);
    return ok ? c.json({ told }) : refuse(409, told);
  });
}

async function iterationOf(c: Request, site: Site): Promise<Loop & { readonly one: IterationView }> {
  const loop = await loopOf(c, site);
  const place = c.req.param('place') ?? '';
  const one = /^\d{1,6}$/.test(place) ? loop.view.iterations[Number(place)] : undefined;
  return one ? { ...loop, one } : refuse(404, 'there is no such iteration');
}

function serveIteration(app: App, site: Site): void {
  const path = '/api/loops/:id/iterations/:place';
  app.get(path, async (c) => {
    const loop = await iterationOf(c, site);
    return c.json(await readDetails(loop, loop.one));
  });
  app.get(`${path}/transcript`, async (c) => {
    const { source, view, one, redactor } = await iterationOf(c, site);
    return c.json(await readTranscript(source, view, one, redactor));
  });
  app.get(`${path}/file`, async (c) => {
    const { folder, one, redactor } = await iterationOf(c, site);
    const text = one.to === null ? null : await fileAt(folder, one.to, c.req.query('path') ?? '');
    return text === null ? refuse(404, 'this file is not kept') : c.json({ text: redactor.text(text) });
  });
  app.get(`${path}/logs/:check`, async (c) => {
    const { folder, one } = await iterationOf(c, site);
    const check = checksOf(one).find(({ name }) => name === c.req.param('check'));
    return check ? c.json(readCheckLog(folder, check)) : refuse(404, 'there is no such check');
  });
}

function servePage(app: App, { page }: DashboardOptions): void {
  app.get('/', (c) => c.html(page.html));
  app.get('/app.css', (c) => c.body(page.style, 200, { 'Content-Type': 'text/css; charset=utf-8' }));
  for (const [name, script] of page.scripts)
    app.get(`/${name}`, (c) => c.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }));
}

function refuse(status: Status, message: string): never {
  throw new HTTPException(status, { message });
}

/** A loop that began a moment ago may not be on the list yet. */
async function findNow(library: Library, id: string): Promise<LoopSource | null> {
  const known = library.find(id);
  if (known !== null) return known;
  await library.list();
  return library.find(id);
}

/** Who has seen nothing yet is told everything, be it ever so little. */
function readSeq(header: string | undefined): number {
  const seq = header ? Number(header) : -1;
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : -1;
}

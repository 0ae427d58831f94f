import type { LogRead } from '../../../journal/read-log.ts';
import type { Diff } from '../../../os/git/git-diff.ts';
import type { ReportData } from '../../report/report-html.ts';
import type { Result } from '../../result.ts';
import type { RunFigures } from '../../stats/figures.ts';
import type { Action } from '../actions.ts';
import type { IterationDetails } from '../details.ts';
import type { ListUpdate, ViewUpdate } from '../stream.ts';
import type { Transcript } from '../transcript.ts';

export type Info = { readonly version: string; readonly control: boolean };

export type Listener = {
  loops(update: ListUpdate): void;
  view(update: ViewUpdate): void;
  /** Called with true when the server answers, with false when it is gone. */
  connected(isConnected: boolean): void;
  /** Called if the server knows neither the token (401) nor the loop (404): to ask again would not help. */
  refused(refusal: Refusal): void;
};

/** An answer of the server that is no data. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Source of the page's data: a server, or the data in a report. */
type Api = {
  readonly isLive: boolean;
  /** The loop to start with, where there is only one. */
  readonly only: string | null;
  info(): Promise<Info>;
  /** Follows all loops, and one in detail; the function that comes back ends it. */
  follow(loop: string | null, listener: Listener): () => void;
  result(loop: string): Promise<Result>;
  details(loop: string, index: number): Promise<IterationDetails>;
  /** What the whole run changed. */
  changes(loop: string): Promise<Diff | null>;
  transcript(loop: string, index: number): Promise<Transcript>;
  /** A file as it was at the end of an iteration. */
  file(loop: string, index: number, path: string): Promise<string>;
  figures(): Promise<readonly RunFigures[]>;
  log(loop: string, index: number, check: string): Promise<LogRead>;
  screen(loop: string): Promise<string | null>;
  act(loop: string, action: Action): Promise<string>;
};

export function openApi(): Api {
  const data = document.getElementById('report')?.textContent;
  return data ? reportApi(parse(data)) : serverApi(takeToken());
}

/** Reads JSON and makes the controls visible that reorder text: an agent could hide with them what it ran. */
function parse<T>(json: string): T {
  return JSON.parse(
    json.replace(
      /[\u202a-\u202e\u2066-\u2069]/g,
      (control) => `⟨U+${control.charCodeAt(0).toString(16).toUpperCase()}⟩`,
    ),
  );
}

const tokenKey = 'ralph-token';

/** The token comes behind the # of the address, and leaves it at once. */
function takeToken(): string {
  const [, token] = /token=([\w-]+)/.exec(location.hash) ?? [];
  if (token === undefined) return sessionStorage.getItem(tokenKey) ?? '';
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, '', `${location.pathname}#/`);
  return token;
}

function serverApi(token: string): Api {
  const headers = { Authorization: `Bearer ${token}` };

  async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(path, { ...init, headers: { ...headers, ...init.headers } });
    if (!response.ok) throw await refusalOf(response);
    return parse(await response.text());
  }

  const loopPath = (loop: string) => `/api/loops/${encodeURIComponent(loop)}`;
  return {
    isLive: true,
    only: null,
    info: () => ask('/api/info'),
    result: (loop) => ask(`${loopPath(loop)}/result`),
    details: (loop, index) => ask(`${loopPath(loop)}/iterations/${index}`),
    changes: (loop) => ask(`${loopPath(loop)}/changes`),
    transcript: (loop, index) => ask(`${loopPath(loop)}/iterations/${index}/transcript`),
    async file(loop, index, path) {
      const address = `${loopPath(loop)}/iterations/${index}/file?path=${encodeURIComponent(path)}`;
      return (await ask<{ text: string }>(address)).text;
    },
    figures: () => ask('/api/figures'),
    log: (loop, index, check) => ask(`${loopPath(loop)}/iterations/${index}/logs/${check}`),
    async screen(loop) {
      return (await ask<{ screen: string | null }>(`${loopPath(loop)}/terminal`)).screen;
    },
    async act(loop, action) {
      const body = JSON.stringify(action);
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
      return (await ask<{ told: string }>(`${loopPath(loop)}/actions`, init)).told;
    },
    follow: (loop, listener) => followStream(loop, headers, listener),
  };
}

async function refusalOf(response: Response): Promise<Refusal> {
  const body = await response.json().catch(() => null);
  return new Refusal(response.status, body?.error?.message ?? `the server says ${response.status}`);
}

/** Reads the event stream by hand: an EventSource cannot show a token. */
function followStream(
  loop: string | null,
  headers: Readonly<Record<string, string>>,
  listener: Listener,
): () => void {
  const path = loop === null ? '/api/stream' : `/api/stream?loop=${encodeURIComponent(loop)}`;
  let seq: string | null = null;
  let pauseMs = 500;
  let current: AbortController | null = null;
  let isOver = false;

  function take(fields: ReadonlyMap<string, string>): void {
    const data = fields.get('data');
    if (data === undefined) return;
    seq = fields.get('id') ?? seq;
    if (fields.get('event') === 'loops') listener.loops(parse(data));
    if (fields.get('event') === 'view') listener.view(parse(data));
  }

  async function read(): Promise<void> {
    current = new AbortController();
    const response = await fetch(path, {
      headers: seq === null ? headers : { ...headers, 'Last-Event-ID': seq },
      signal: current.signal,
    });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    listener.connected(true);
    pauseMs = 500;
    await readEvents(response.body, take);
  }

  async function goOn(): Promise<void> {
    while (!isOver) {
      // A browser has six connections for all tabs of a server: one that nobody sees gives its own back.
      if (document.hidden)
        await new Promise((seen) => document.addEventListener('visibilitychange', seen, { once: true }));
      await read().catch((error: unknown) => {
        if (!(error instanceof Refusal) || (error.status !== 401 && error.status !== 404)) return;
        isOver = true;
        listener.refused(error);
      });
      if (isOver || document.hidden) continue;
      listener.connected(false);
      await new Promise((wake) => setTimeout(wake, pauseMs));
      pauseMs = Math.min(pauseMs * 2, 8000);
    }
  }

  const onHidden = (): void => {
    if (document.hidden) current?.abort();
  };
  document.addEventListener('visibilitychange', onHidden);
  goOn();
  return () => {
    isOver = true;
    document.removeEventListener('visibilitychange', onHidden);
    current?.abort();
  };
}

/** Hands on the fields of each event of a stream. */
async function readEvents(
  body: NonNullable<Response['body']>,
  take: (fields: ReadonlyMap<string, string>) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) take(fieldsOf(block));
  }
}

function fieldsOf(block: string): Map<string, string> {
  const lines = block.split('\n').map((line) => ({ line, colon: line.indexOf(':') }));
  return new Map(lines.map(({ line, colon }) => [line.slice(0, colon), line.slice(colon + 2)]));
}

function reportApi(data: ReportData): Api {
  return {
    isLive: false,
    only: data.loops.length === 1 ? (data.loops[0]?.id ?? null) : null,
    info: async () => ({ version: data.version, control: false }),
    follow(loop, listener) {
      listener.connected(true);
      listener.loops({ all: true, loops: data.loops, gone: [], trouble: null });
      const view = loop === null ? undefined : data.views[loop];
      if (loop !== null && view) listener.view({ id: loop, ...view, count: view.iterations.length });
      return () => {};
    },
    result: async (loop) => data.results[loop] ?? { changes: '', diff: '' },
    details: async (loop, index) => data.details[`${loop} ${index}`] ?? { prompt: null, changes: null },
    log: async (loop, index, check) => data.logs[`${loop} ${index} ${check}`] ?? { kind: 'missing' },
    changes: async (loop) => data.changes[loop] ?? null,
    transcript: async (loop, index) =>
      data.transcripts[`${loop} ${index}`] ?? { entries: [], leftOut: 0, hasStream: false },
    file: () => Promise.reject(new Error('a report has no whole files')),
    figures: async () => data.figures,
    screen: async () => null,
    act: () => Promise.reject(new Error('this is a report: it shows, and changes nothing')),
  };
}

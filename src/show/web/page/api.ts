import type { LogRead } from '../../../journal/read-log.ts';
import type { Diff } from '../../../os/git/git-diff.ts';
import type { ReportData } from '../../report/report-html.ts';
import type { Result } from '../../result.ts';
import type { RunFigures } from '../../stats/figures.ts';
import type { Action } from '../actions.ts';
import type { IterationDetails } from '../details.ts';
import type { ListUpdate, ViewUpdate } from '../stream.ts';
import { loopPath } from '../summary.ts';
import type { Transcript } from '../transcript.ts';

export type Info = { readonly version: string; readonly control: boolean };

export type Listener = {
  loops(update: ListUpdate): void;
  view(update: ViewUpdate): void;
  /** Called with true when the server answers, with false when it is gone. */
  connected(isConnected: boolean): void;
  /** Called with the command that starts the server again when it was ended. */
  ended(command: string): void;
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

type Ask = <T>(path: string, init?: RequestInit) => Promise<T>;

export function openApi() {
  const data = document.getElementById('report')?.textContent;
  if (data) {
    const report = parse<ReportData>(data);
    const only = report.loops.length === 1 ? (report.loops[0]?.id ?? null) : null;
    const follow = (loop: string | null, listener: Listener) => followReport(report, loop, listener);
    return { isLive: false, only, follow, ...questions(askReport(report)) };
  }
  const headers = { Authorization: `Bearer ${takeToken()}` };
  const follow = (loop: string | null, listener: Listener) => followStream(loop, headers, listener);
  return { isLive: true, only: null, follow, ...questions(askServer(headers)) };
}

function questions(ask: Ask) {
  const iterationPath = (loop: string, index: number) => `${loopPath(loop)}/iterations/${index}`;
  return {
    info: () => ask<Info>('/api/info'),
    figures: () => ask<readonly RunFigures[]>('/api/figures'),
    result: (loop: string) => ask<Result>(`${loopPath(loop)}/result`),
    /** What the whole run changed. */
    changes: (loop: string) => ask<Diff | null>(`${loopPath(loop)}/changes`),
    screen: (loop: string) => ask<{ readonly screen: string | null }>(`${loopPath(loop)}/terminal`),
    act(loop: string, action: Action) {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      return ask<{ readonly told: string }>(`${loopPath(loop)}/actions`, {
        ...init,
        body: JSON.stringify(action),
      });
    },
    details: (loop: string, index: number) => ask<IterationDetails>(iterationPath(loop, index)),
    transcript: (loop: string, index: number) => ask<Transcript>(`${iterationPath(loop, index)}/transcript`),
    /** A file as it was at the end of an iteration. */
    file: (loop: string, index: number, path: string) =>
      ask<{ readonly text: string }>(`${iterationPath(loop, index)}/file?path=${encodeURIComponent(path)}`),
    log: (loop: string, index: number, check: string) =>
      ask<LogRead>(`${iterationPath(loop, index)}/logs/${check}`),
  };
}

function askServer(headers: Readonly<Record<string, string>>): Ask {
  return async (path, init = {}) => {
    const response = await fetch(path, { ...init, headers: { ...headers, ...init.headers } });
    if (!response.ok) throw await refusalOf(response);
    return parse(await response.text());
  };
}

function askReport({ answers }: ReportData): Ask {
  return async <T>(path: string) => {
    if (!Object.hasOwn(answers, path))
      throw new Error('This is left out of the report: it would be too large.');
    return answers[path] as T;
  };
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
    if (fields.get('event') === 'ended') listener.ended(parse(data));
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

function followReport({ loops, views }: ReportData, loop: string | null, listener: Listener): () => void {
  listener.connected(true);
  listener.loops({ all: true, loops, gone: [], trouble: null });
  const view = views[loop ?? ''];
  if (loop !== null && view) listener.view({ ...view, id: loop, count: view.iterations.length });
  return () => {};
}

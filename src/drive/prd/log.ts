import type { AgentEvent } from '../../agents/adapter.ts';
import { messageOf } from '../../core/error.ts';
import type { EventOf, JournalEvent } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { type IterationView, type PrdView, RunView } from '../../journal/run-view.ts';
import { keepEarlierLog, openStreamLog, type StreamLog } from '../../journal/stream-log.ts';
import { readText, reclaimDir, refuseLinkedFolders, writeAtomic } from '../../os/files/files.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { PrdPaths } from './tasks.ts';

const maxLogBytes = 32 * 1024 * 1024;
const header = 'run,iteration,mode,story,started,seconds,end,commits,done,total,undone,decision\n';

type LogState = {
  readonly run: string;
  readonly paths: PrdPaths;
  readonly redactor: Redactor;
  readonly view: RunView;
  log: StreamLog | null;
};

/** Writes a log of each iteration, and a line for it in the summary. A log that cannot be written never ends a loop. */
export function keepLogs(run: string, paths: PrdPaths, redactor: Redactor, warn: (text: string) => void) {
  const state: LogState = { run, paths, redactor, view: new RunView(run), log: null };
  let isBroken = false;
  const safely = (work: () => void): void => {
    if (isBroken) return;
    try {
      work();
    } catch (error) {
      isBroken = true;
      warn(`the logs of this PRD cannot be written: ${messageOf(error)}`);
    }
  };
  return {
    journal: (event: JournalEvent) => safely(() => logJournalEvent(state, event)),
    agent: (event: AgentEvent) => safely(() => logAgentEvent(state, event)),
  };
}

function logJournalEvent(state: LogState, event: JournalEvent): void {
  addEvent(state.view, event);
  if (event.type === 'prd.iteration') startLog(state, event);
  else if (event.type === 'decision') finishLog(state, event);
  else if (event.type === 'run.ended') state.log?.close();
}

function logAgentEvent(state: LogState, event: AgentEvent): void {
  if (event.type === 'text') write(state, event.delta ? event.text : `\n${event.text}`);
  else if (event.type === 'notice') write(state, `\n${event.text}`);
  else if (event.type === 'tool-start') write(state, `\n> ${event.name} ${event.summary}\n`);
  else if (event.type === 'tool-end' && !event.ok) write(state, `\n! ${event.output.slice(0, 2000)}\n`);
}

function startLog(state: LogState, { iteration, mode, story, at }: EventOf<'prd.iteration'>): void {
  const { run, paths } = state;
  prepareFolder(paths);
  const path = paths.log(run, iteration);
  keepEarlierLog(path);
  state.log = openStreamLog(path, maxLogBytes);
  write(state, `# iteration ${iteration}, ${mode}, ${story ?? 'no story'}, ${at}\n\n`);
}

function finishLog(state: LogState, { kind, because }: EventOf<'decision'>): void {
  const { run, paths, view } = state;
  const iteration = view.iterations.at(-1);
  const prd = iteration?.prd;
  for (const problem of prd?.problems ?? [])
    write(state, `\ntasks.json: ${problem}${prd?.undone ? ' (undone)' : ''}`);
  write(state, `\n\n# ${kind}: ${because.text}\n`);
  state.log?.close();
  state.log = null;
  prepareFolder(paths);
  if (!iteration || !prd) return;
  const root = paths.top;
  const rows = readText(paths.summary, { root }) ?? header;
  const cells = cellsOf(run, iteration, prd).map(quoteCell);
  writeAtomic(paths.summary, `${rows}${cells.join(',')}\n`, { mode: 0o644, fsync: false, root });
}

function write({ log, redactor }: LogState, text: string): void {
  log?.write(redactor.text(cleanTerminal(text)));
}

/** Makes the folder of the logs. An agent may have put a link in its place. */
function prepareFolder({ logs, root, top }: PrdPaths): void {
  refuseLinkedFolders(logs, top);
  reclaimDir(logs, root, 0o755);
  if (readText(`${logs}/.gitignore`) === null)
    writeAtomic(`${logs}/.gitignore`, '*\n', { mode: 0o644, fsync: false, root: top });
}

function cellsOf(run: string, one: IterationView, prd: PrdView): readonly unknown[] {
  return [
    run,
    one.iteration,
    prd.mode,
    prd.story ?? '',
    new Date(one.startedAt).toISOString(),
    one.agentMs === null ? '' : Math.round(one.agentMs / 1000),
    one.end ?? '',
    one.end === null ? '' : one.commits,
    prd.after?.done,
    prd.after?.total,
    prd.undone,
    one.decision?.outcome ?? one.decision?.kind,
  ];
}

/** Quotes a CSV cell if needed; a spreadsheet would take some first characters for a formula. */
function quoteCell(value: unknown): string {
  const text = String(value ?? '').replace(/^[=+@\t\r-]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

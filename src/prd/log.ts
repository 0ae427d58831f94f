import type { AgentEvent } from '../agents/adapter.ts';
import { messageOf } from '../core/error.ts';
import type { Redactor } from '../loop/run-spec.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import type { EventOf, JournalEvent } from '../store/events.ts';
import { addEvent } from '../store/fold-events.ts';
import { type IterationView, newRunView, type PrdView } from '../store/run-view.ts';
import { keepEarlierLog, openStreamLog, type StreamLog } from '../store/stream-log.ts';
import type { prdPaths } from '../store/tasks.ts';
import { readText, reclaimDir, refuseLinkedFolders, writeAtomic } from '../system/files.ts';

type PrdLog = { journal(event: JournalEvent): void; agent(event: AgentEvent): void };

const maxLogBytes = 32 * 1024 * 1024;
const columns = [
  'run',
  'iteration',
  'mode',
  'story',
  'started',
  'seconds',
  'end',
  'commits',
  'done',
  'total',
  'undone',
  'decision',
];

/** Keeps a log of each iteration, and a line for it in the summary. A log that cannot be written never ends a loop. */
export function keepLogs(
  run: string,
  paths: ReturnType<typeof prdPaths>,
  redactor: Redactor,
  warn: (text: string) => void,
): PrdLog {
  const { top } = paths;
  const view = newRunView(run);
  let log: StreamLog | null = null;
  let broken = false;

  const safely = (work: () => void): void => {
    if (broken) return;
    try {
      work();
    } catch (error) {
      broken = true;
      warn(`the logs of this PRD cannot be written: ${messageOf(error)}`);
    }
  };
  const write = (text: string): void => log?.write(redactor.text(cleanTerminal(text)));

  /** An agent may have put a link in its place. */
  function keepFolder(): void {
    refuseLinkedFolders(paths.logs, top);
    reclaimDir(paths.logs, paths.root, 0o755);
    if (readText(`${paths.logs}/.gitignore`) === null)
      writeAtomic(`${paths.logs}/.gitignore`, '*\n', { mode: 0o644, fsync: false, root: top });
  }

  function begin(event: EventOf<'prd.iteration'>): void {
    keepFolder();
    const path = paths.log(run, event.iteration);
    keepEarlierLog(path);
    log = openStreamLog(path, maxLogBytes);
    write(`# iteration ${event.iteration}, ${event.mode}, ${event.story ?? 'no story'}, ${event.at}\n\n`);
  }

  function finish(event: EventOf<'decision'>): void {
    const one = view.iterations.at(-1);
    for (const problem of one?.prd?.problems ?? [])
      write(`\ntasks.json: ${problem}${one?.prd?.undone ? ' (undone)' : ''}`);
    write(`\n\n# ${event.kind}: ${event.because.text}\n`);
    log?.close();
    log = null;
    keepFolder();
    if (one?.prd) addRow(paths.summary, top, row(run, one, one.prd));
  }

  return {
    journal: (event) =>
      safely(() => {
        addEvent(view, event);
        if (event.type === 'prd.iteration') begin(event);
        else if (event.type === 'decision') finish(event);
        else if (event.type === 'run.failed') log?.close();
      }),
    agent: (event) =>
      safely(() => {
        if (event.type === 'text') write(event.delta ? event.text : `\n${event.text}`);
        else if (event.type === 'notice') write(`\n${event.text}`);
        else if (event.type === 'tool-start') write(`\n> ${event.name} ${event.summary}\n`);
        else if (event.type === 'tool-end' && !event.ok) write(`\n! ${event.output.slice(0, 2000)}\n`);
      }),
  };
}

function row(run: string, one: IterationView, prd: PrdView): readonly unknown[] {
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

function addRow(path: string, root: string, values: readonly unknown[]): void {
  const before = readText(path, { root }) ?? line(columns);
  writeAtomic(path, before + line(values), { mode: 0o644, fsync: false, root });
}

function line(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\n`;
}

/** Quoted where it has to be; a spreadsheet would take some first characters for a formula. */
function cell(value: unknown): string {
  const text = String(value ?? '').replace(/^[=+@\t\r-]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import type { AgentEvent } from '../../agents/adapter.ts';
import { runPaths } from '../../config/paths.ts';
import { formatDuration } from '../../core/duration.ts';
import type { Evidence } from '../../core/loop.ts';
import { type Attempt, attemptsOf, streamOf } from '../../drive/process/attempts.ts';
import type { JournalEvent } from '../../journal/events.ts';
import type { IterationView, RunView } from '../../journal/run-view.ts';
import { last, readRunAt } from '../../journal/runs.ts';
import { tryFile } from '../../os/files/open-file.ts';
import { readLines } from '../../os/process/read-lines.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import type { LoopSource } from './sources.ts';
import { checksOf } from './summary.ts';

type ToolEntry = {
  readonly kind: 'tool';
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly input: string;
  output: string | null;
  ok: boolean | null;
  ms: number | null;
};

export type Entry =
  | ToolEntry
  | { readonly kind: 'text' | 'subagent' | 'notice' | 'error' | 'note' | 'decision'; text: string }
  | { readonly kind: 'check'; readonly text: string; readonly ok: boolean; readonly log: string }
  | {
      readonly kind: 'verdict';
      readonly text: string;
      readonly ok: boolean;
      readonly evidence: readonly Evidence[];
    };

export type Transcript = {
  readonly entries: readonly Entry[];
  /** Entries beyond the limit, which are not shown. */
  readonly leftOut: number;
  /** False if only the journal is there: a session's own words stay with its host. */
  readonly hasStream: boolean;
};

const maxEntries = 3000;
const maxTextChars = 40_000;

/** Tells an iteration in order: the agent's stream, then what was checked and decided. */
export async function readTranscript(
  source: LoopSource,
  { run }: RunView,
  one: IterationView,
  redactor: Redactor,
): Promise<Transcript> {
  const { journal, folder, kind } = source;
  const { events, started } = journal === null ? { events: [] } : readRunAt(run, journal);
  if (started === undefined) return { entries: [], leftOut: 0, hasStream: false };
  const attempts = attemptsOf(events, started, kind === 'session');
  const attempt = attempts.filter(({ iteration }) => iteration === one.iteration)[nthOf(one, events)];
  if (attempt === undefined) return { entries: [], leftOut: 0, hasStream: false };
  const path = streamOf(attempt, attempts, runPaths(folder, run).stream(one.iteration));
  const stream = kind === 'session' ? null : readStream(path, attempt);
  const all = attempt.events.flatMap((event) => entriesOf(event, one, stream));
  const shown = all.slice(0, maxEntries).map((entry) => redacted(entry, redactor));
  return { entries: shown, leftOut: all.length - shown.length, hasStream: stream !== null };
}

/** Which of the attempts with its number an iteration is, from 0. */
function nthOf({ iteration, startedAt }: IterationView, events: readonly JournalEvent[]): number {
  const begun = events.filter((event) => event.type === 'iteration.started' && event.iteration === iteration);
  return Math.max(
    0,
    begun.findIndex(({ at }) => Date.parse(at) === startedAt),
  );
}

/** Returns the entries of the agent's stream; null if it is not kept, or is a link out of the folder of runs. */
function readStream(path: string, { adapter, events }: Attempt): Entry[] | null {
  if (tryFile(path, () => true) === null) return null;
  const entries: Entry[] = [];
  const tools = new Map<string, ToolEntry>();
  const times = timesOf(events);
  const state = { ...adapter.newState(), now: Date.parse(last(events, 'agent.ended')?.at ?? '') || 0 };
  const wasRead = readLines(path, (line) => {
    for (const event of adapter.parse(line.toString('utf8'), state)) {
      if (event.type === 'tool-start') {
        const { id, name, summary, input = summary } = event;
        const text = cut(inputText(input));
        const ms = times.get(id) ?? null;
        const tool: ToolEntry = { kind: 'tool', id, name, summary, input: text, output: null, ok: null, ms };
        tools.set(id, tool);
        entries.push(tool);
      } else if (event.type === 'tool-end') {
        const tool = tools.get(event.id);
        if (tool) Object.assign(tool, { output: cut(event.output), ok: event.ok });
      } else addWords(entries, event);
    }
  });
  return wasRead ? entries : null;
}

/** Formats the input of a tool call: one field after the other, texts as they are. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input);
  const fields = Object.entries(input).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return { name, text };
  });
  if (fields.length === 1) return fields[0]?.text ?? '';
  return fields.map(({ name, text }) => `${name}: ${text?.includes('\n') ? '\n' : ''}${text}`).join('\n');
}

function addWords(entries: Entry[], event: AgentEvent): void {
  if (event.type === 'retract') {
    for (let left = event.blocks; left > 0; left--) {
      const at = entries.findLastIndex(({ kind }) => kind === 'text');
      if (at !== -1) entries.splice(at, 1);
    }
  }
  if (event.type === 'error') entries.push({ kind: 'error', text: cut(event.message) });
  if (event.type === 'notice' || event.type === 'subagent')
    entries.push({ kind: event.type, text: cut(event.text) });
  if (event.type !== 'text') return;
  const before = entries.at(-1);
  if (event.delta && before?.kind === 'text') before.text = cut(before.text + event.text);
  else entries.push({ kind: 'text', text: cut(event.text) });
}

/** How long each tool call took, by its id. The stream itself has no times. */
function timesOf(events: readonly JournalEvent[]): Map<string, number> {
  const starts = new Map<string, number>();
  const times = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'tool.started') starts.set(event.id, Date.parse(event.at));
    if (event.type === 'tool.ended')
      times.set(event.id, Date.parse(event.at) - (starts.get(event.id) ?? Date.parse(event.at)));
  }
  return times;
}

/** Returns what an event of the journal adds. Without a stream, its tool calls and its last words stand for it. */
function entriesOf(event: JournalEvent, one: IterationView, stream: readonly Entry[] | null): Entry[] {
  switch (event.type) {
    case 'agent.started':
      return [...(stream ?? [])];
    case 'tool.started': {
      const { id, name, summary } = event;
      const tool = one.tools.find((other) => other.id === id);
      const { ok = null, ms = null } = tool ?? {};
      return stream ? [] : [{ kind: 'tool', id, name, summary, input: '', output: null, ok, ms }];
    }
    case 'agent.ended': {
      const words: Entry[] = stream || event.text === '' ? [] : [{ kind: 'text', text: event.text }];
      return event.error === undefined ? words : [...words, { kind: 'error', text: event.error }];
    }
    case 'guard.denied':
      return [{ kind: 'error', text: `The guard refused ${event.tool} ${event.what}: ${event.reason}` }];
    case 'guardrail.ended':
    case 'verify.ended':
      return [checkEntry(event, one)];
    case 'verdict': {
      const { accepted: ok, because: text, evidence } = event;
      return [{ kind: 'verdict', text, ok, evidence }];
    }
    case 'scm.ended':
      return [{ kind: event.ok ? 'notice' : 'error', text: `${event.task}: ${event.detail}` }];
    case 'note':
    case 'notice':
      return [{ kind: event.type, text: event.text }];
    case 'decision':
      return [{ kind: 'decision', text: `${event.kind}: ${event.because.text}` }];
    default:
      return [];
  }
}

type CheckEvent = Extract<JournalEvent, { readonly type: 'guardrail.ended' | 'verify.ended' }>;

function checkEntry({ type, command, ok, timedOut, exitCode, ms }: CheckEvent, one: IterationView): Entry {
  const kind = type === 'verify.ended' ? 'verify' : 'guardrail';
  const check = checksOf(one).findLast((other) => other.name.startsWith(kind) && other.command === command);
  const how = timedOut ? 'timed out' : `exit ${exitCode ?? '?'}`;
  return { kind: 'check', text: `${command} · ${how}, ${formatDuration(ms)}`, ok, log: check?.name ?? '' };
}

function cut(text: string): string {
  if (text.length <= maxTextChars) return text;
  const half = maxTextChars / 2;
  return `${text.slice(0, half)}\n… ${text.length - maxTextChars} characters left out …\n${text.slice(-half)}`;
}

function redacted(entry: Entry, redactor: Redactor): Entry {
  if (entry.kind !== 'tool') return { ...entry, text: redactor.text(entry.text) };
  const { summary, input, output } = entry;
  return {
    ...entry,
    summary: redactor.text(summary),
    input: redactor.text(input),
    output: output === null ? null : redactor.text(output),
  };
}

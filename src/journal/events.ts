import * as v from 'valibot';
import type { TodoItem } from '../agents/adapter.ts';
import type { RecordedOutput } from '../agents/custom/user-agent.ts';
import type { EndCause } from '../agents/turn.ts';
import type { CliSetting } from '../config/settings.ts';
import { noticeKinds } from '../core/notice.ts';
import { attempt } from '../os/attempt.ts';
import { journalVersion } from './journal-version.ts';
import * as part from './loop-schemas.ts';

const number = v.number();
const text = v.string();
const flag = v.boolean();
const exitCode = v.nullable(number);
const iteration = number;

/** How a command that checks the work ended. */
const commandEnd = { iteration, command: text, ok: flag, exitCode, timedOut: flag, ms: number };

const output: v.GenericSchema<RecordedOutput> = v.picklist(['text', 'claude-stream-json', 'acp']);
const endCause: v.GenericSchema<EndCause> = v.picklist([
  'exited',
  'finished',
  'idle',
  'hard-timeout',
  'stopped',
  'not-started',
]);
const todoItem: v.GenericSchema<TodoItem> = v.object({
  text,
  status: v.picklist(['pending', 'active', 'done']),
});
/** Accepts any key, because releases differ in their settings; loading the settings again checks it. */
const cliSetting: v.GenericSchema<CliSetting> = v.object({
  key: v.custom<CliSetting['key']>((value) => typeof value === 'string'),
  value: v.unknown(),
  flag: v.custom<CliSetting['flag']>((value) => typeof value === 'string'),
});

/** Detail of a `commit` task of source control that found nothing to do. */
export const nothingToCommit = 'nothing to commit';

/** An event: what it tells, for docs/journal.md, and its fields. */
const event = <const E extends v.ObjectEntries>(meaning: string, fields: E) => ({
  meaning,
  schema: v.object(fields),
});

/** All events of a journal. Every view is folded from these. */
export const eventTable = {
  'run.started': event('The run began, with everything that stays the same for it.', {
    run: text,
    version: text,
    pid: number,
    cwd: text,
    /** The branch that was checked out. */
    branch: v.exactOptional(text),
    agent: text,
    /** As the agent itself reports it. */
    agentVersion: v.exactOptional(text),
    /** What an agent from the settings prints; `acp` for one that is talked to by that protocol. */
    output: v.exactOptional(output),
    command: text,
    plan: part.plan,
    task: text,
    promptFile: v.exactOptional(text),
    /** Settings from the command line, which a resumed run keeps. */
    cli: v.array(cliSetting),
  }),
  'run.resumed': event('The same run goes on, in another process.', {
    pid: number,
    iteration,
    agent: v.exactOptional(text),
    agentVersion: v.exactOptional(text),
    output: v.exactOptional(output),
    plan: v.exactOptional(part.plan),
    cli: v.array(cliSetting),
  }),
  'iteration.started': event('An iteration began.', {
    iteration,
    of: v.nullable(number),
    promptChars: number,
    promptStart: v.exactOptional(text),
    /** The commit that it starts from, and the snapshot of the files if they differ from it. */
    head: v.exactOptional(text),
    tree: v.exactOptional(text),
  }),
  'prd.iteration': event(
    'What this iteration of a PRD is for, and how its stories stand before it. `story` is null where none is left.',
    {
      iteration,
      mode: part.iterationMode,
      story: v.nullable(text),
      counts: part.taskCounts,
      stories: v.array(part.storyState),
      /** What the PRD is about, in a line. */
      about: v.exactOptional(text),
      rules: v.exactOptional(part.reviewRules),
    },
  ),
  'prd.checked': event(
    'The task list after the turn. If the mode did not allow a change, it was undone; the counts are those that hold.',
    {
      iteration,
      mode: part.iterationMode,
      ok: flag,
      problems: v.array(text),
      undone: flag,
      /** Every story is done. */
      complete: flag,
      counts: part.taskCounts,
      stories: v.array(part.storyState),
    },
  ),
  'sandbox.ready': event('The agent runs in a sandbox from here on.', { provider: text, name: text }),
  'sandbox.denied': event(
    'The agent wanted to reach a host that is not allowed; written once for each host.',
    {
      host: text,
      port: number,
      because: text,
    },
  ),
  'agent.started': event("The agent's process was started.", {
    iteration,
    pid: v.nullable(number),
    argv: v.array(text),
  }),
  'tool.started': event('The agent called a tool.', { iteration, id: text, name: text, summary: text }),
  'tool.ended': event('The tool returned.', {
    iteration,
    id: text,
    ok: flag,
    exitCode: v.exactOptional(number),
  }),
  todo: event('The agent changed its list of todos.', { iteration, items: v.array(todoItem) }),
  'agent.ended': event("The agent's turn is over and its processes are gone.", {
    iteration,
    end: part.turnEnd,
    cause: endCause,
    exitCode,
    toolCalls: v.nullable(number),
    ms: number,
    usage: v.exactOptional(part.usage),
    limit: v.exactOptional(part.limit),
    error: v.exactOptional(text),
    session: v.exactOptional(text),
    /** The model that the agent named. */
    model: v.exactOptional(text),
    progress: part.progress,
    /** The agent's context at its fullest. */
    context: v.exactOptional(part.contextSize),
    /** Processes that outlived the agent and were ended. */
    swept: v.exactOptional(v.array(number)),
    unknownEvents: v.exactOptional(v.record(text, number)),
    /** The end of the agent's own text. */
    text,
  }),
  'guardrail.started': event('A guardrail was started.', { iteration, command: text }),
  'guardrail.ended': event('The guardrail ended.', { ...commandEnd, log: text, action: text }),
  'verify.ended': event('A verify command ended, after a claim. `log` is relative to the working copy.', {
    ...commandEnd,
    log: v.exactOptional(text),
  }),
  'scm.ended': event('A task of source control ended.', { iteration, task: text, ok: flag, detail: text }),
  'guard.denied': event('The guard refused a tool call. `what` is the command or the file.', {
    iteration,
    tool: text,
    what: text,
    category: text,
    reason: text,
  }),
  note: event('Message from a human that goes into the next prompt.', { iteration, text }),
  verdict: event('A claim was judged.', {
    iteration,
    accepted: flag,
    because: text,
    evidence: v.array(part.evidence),
  }),
  decision: event(
    'Go on, wait or stop, with the state of the loop after the turn. `head` and `tree` are as in `iteration.started`, at the end of the iteration.',
    {
      iteration,
      kind: v.picklist(['continue', 'wait', 'stop']),
      because: part.reason,
      outcome: v.exactOptional(part.outcome),
      ms: v.exactOptional(number),
      head: v.exactOptional(text),
      tree: v.exactOptional(text),
      loop: part.savedLoop,
    },
  ),
  paused: event('A person lets the loop wait before its next iteration.', { because: text }),
  unpaused: event('The pause is over.', {}),
  notice: event('Something that a person may want to know.', { text }),
  notified: event('A notification was sent, or could not be. Also comes after `run.ended`.', {
    kind: v.picklist(noticeKinds),
    channel: text,
    ok: flag,
    detail: text,
  }),
  'run.ended': event('The run ended with an outcome.', {
    outcome: part.outcome,
    exitCode: number,
    because: part.reason,
    iterations: number,
    usage: part.usage,
    ms: number,
  }),
  'run.yielded': event(
    'The process stopped after one iteration, as its supervisor asked (`--one-iteration`). The run is not over: `run.resumed` follows.',
    { iteration },
  ),
  'run.abandoned': event('The process of the run had died. Written by the next one, or by its supervisor.', {
    swept: v.array(number),
  }),
};

type EventTable = typeof eventTable;

type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> } : T;

export type EventType = keyof EventTable;

type Fields<T extends EventType> = ReadonlyDeep<v.InferOutput<EventTable[T]['schema']>>;

/** An event before it is written. */
export type EventBody = { [T in EventType]: { readonly type: T } & Fields<T> }[EventType];

type Envelope = { readonly v: number; readonly seq: number; readonly at: string };

/** An event of some type in the journal. */
export type EventOf<T extends EventType> = { [K in T]: { readonly type: K } & Fields<K> & Envelope }[T];

export type JournalEvent = EventOf<EventType>;

/** Parses a line of a journal: `unknown` is an event of a newer release, `damaged` any other line that is no event. */
export function readEvent(line: string): JournalEvent | 'damaged' | 'unknown' {
  const value: unknown = attempt(() => JSON.parse(line), undefined);
  if (!v.is(envelope, value)) return 'damaged';
  if (value.v !== journalVersion || !isEventType(value.type)) return 'unknown';
  return isEvent(value) ? value : 'damaged';
}

/** The fields that every event has. */
const envelope = v.object({
  v: number,
  seq: number,
  at: v.pipe(
    text,
    v.check((at) => !Number.isNaN(Date.parse(at))),
  ),
  type: text,
});

function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTable, type);
}

/** Looks the schema up by type. A variant would try one schema after the other. */
function isEvent(value: v.InferOutput<typeof envelope>): value is JournalEvent {
  return isEventType(value.type) && v.is(eventTable[value.type].schema, value);
}

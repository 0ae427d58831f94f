import { backoffMs } from '../core/backoff.ts';
import { endBy, endStep } from '../fleet/end-loop.ts';
import type { LoopRecord, LoopStep } from '../fleet/files/loops.ts';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import { type Entry, type EntryStep, noSetbacks } from './entries.ts';

/** Why an iteration came to no end on a machine. None of these counts as a failure of the loop. */
export const setbackKinds = [
  /** Another machine was faster. */
  'fenced',
  /** The lease could not be renewed. */
  'lease',
  'stopped',
  /** The process that ran it was killed. */
  'died',
  /** The repository cannot be reached now: the loop waits at the end of its queue. */
  'unprepared',
  /** The repository, its branch or the program does not exist: three machines in a row look. */
  'missing',
  /** No machine can run it before a person repairs something. */
  'impossible',
  /** The agent does not work on this machine: its program or its login is gone. */
  'agent',
  /** Nothing works on this machine, such as with a full disk. */
  'machine',
] as const;

export type Setback = { readonly kind: (typeof setbackKinds)[number]; readonly why: string };

/** True if a message tells that the machine has run out of something. */
export function isFaultOfMachine(text: string): boolean {
  return /no space left|disk quota exceeded|too many open files|cannot allocate memory/i.test(text);
}

/** Returns the setback of an iteration that ended because of this machine; null if it did not. */
export function faultOf({ decision }: TurnEnd): Setback | null {
  if (decision?.kind !== 'stop') return null;
  const { code, text: why } = decision.because;
  if (isFaultOfMachine(why)) return { kind: 'machine', why };
  return code === 'auth' || code === 'agent-missing' ? { kind: 'agent', why } : null;
}

const maxLooks = 3;
const maxDeaths = 3;

/** Returns the step that gives an iteration back. Another machine runs it again, unless the setback says more. */
export function setbackStep(entry: Entry, setback: Setback | undefined, at: number): EntryStep {
  const step = entry.loop.status === 'running' ? stepFor(entry, setback, at) : { change: {} };
  const change = { ...step.change, launch: entry.loop.launch + 1 };
  return { ...step, change, entry: { ...step.entry, holder: null } };
}

function stepFor(entry: Entry, setback: Setback | undefined, at: number): EntryStep {
  const { loop, setbacks } = entry;
  if (setback?.kind === 'died') return deathStep(entry, at);
  if (setback === undefined || !['unprepared', 'missing', 'impossible'].includes(setback.kind))
    return { change: { why: { state: 'queued', since: at } } };
  const { kind, why } = setback;
  const looks = setbacks.looks + 1;
  if (kind === 'impossible' || (kind === 'missing' && looks >= maxLooks))
    return setAside(loop, { outcome: 'BLOCKED', because: { code: 'cannot-run', text: why } }, at);
  const until = at + backoffMs(looks + 1);
  return {
    change: { waitUntil: until, why: { state: 'backoff', since: at, until, detail: why } },
    entry: { setbacks: { ...setbacks, looks } },
  };
}

/** Counts a worker that died over an iteration; after the third, a person has to decide. */
export function deathStep({ loop, setbacks }: Entry, at: number): EntryStep {
  const deaths = setbacks.deaths + 1;
  if (deaths < maxDeaths)
    return { change: { why: { state: 'queued', since: at } }, entry: { setbacks: { ...setbacks, deaths } } };
  const text = `iteration ${loop.iteration} has ended ${deaths} workers that ran it`;
  const stop = { outcome: 'NEEDS_DECISION', because: { code: 'needs-decision', text } } as const;
  return { ...setAside(loop, stop, at), entry: { setbacks: noSetbacks } };
}

/** Pauses a loop for a person. The iteration that is due runs when the loop is resumed. */
function setAside(loop: LoopRecord, stop: Parameters<typeof endBy>[0], at: number): LoopStep {
  const step = endStep({ ...loop, iteration: loop.ended }, endBy(stop, loop), at);
  const why = { state: 'paused', since: at, detail: stop.because.text } as const;
  return { ...step, change: { ...step.change, why } };
}

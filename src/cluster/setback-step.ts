import { backoffMs } from '../core/backoff.ts';
import { endBy, endStep } from '../fleet/end-loop.ts';
import type { LoopRecord, LoopStep } from '../fleet/files/loops.ts';
import type { Entry, EntryStep } from './entries.ts';
import { noSetbacks, type Setback } from './setback.ts';

const maxLooks = 3;
const maxDeaths = 3;

/** Returns the step that gives an iteration back. */
export function setbackStep(entry: Entry, setback: Setback | undefined, at: number): EntryStep {
  const { loop } = entry;
  const launch = loop.launch + 1;
  const back = { change: { launch }, entry: { holder: null } };
  if (loop.status !== 'running') return back;
  const { kind, why } = setback ?? { kind: 'machine', why: '' };
  if (kind === 'died') {
    const step = deathStep(entry, at);
    return { ...step, change: { ...step.change, launch }, entry: { ...step.entry, holder: null } };
  }
  if (kind === 'machine') return { ...back, change: { launch, why: { state: 'queued', since: at } } };
  const looks = entry.setbacks.looks + 1;
  if (kind === 'impossible' || (kind === 'missing' && looks >= maxLooks)) {
    const step = setAside(loop, { outcome: 'BLOCKED', because: { code: 'cannot-run', text: why } }, at);
    return { ...step, change: { ...step.change, launch }, entry: { holder: null } };
  }
  const until = at + backoffMs(looks + 1);
  return {
    change: { launch, waitUntil: until, why: { state: 'backoff', since: at, until, detail: why } },
    entry: { holder: null, setbacks: { ...entry.setbacks, looks } },
  };
}

/** Counts a worker that died over an iteration; after the third, a person has to decide. */
export function deathStep({ loop, setbacks: before }: Entry, at: number): EntryStep {
  const deaths = before.deaths + 1;
  if (deaths < maxDeaths) {
    return {
      change: { why: { state: 'queued', since: at } },
      entry: { setbacks: { ...before, deaths } },
    };
  }
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

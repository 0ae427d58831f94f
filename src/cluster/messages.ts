import * as v from 'valibot';
import { fleetEvent } from '../fleet/files/events.ts';
import { loopEnd } from '../fleet/files/loop-record.ts';
import { turnEnd } from '../fleet/iteration-end.ts';
import { providerNames } from '../sandbox/sandbox.ts';
import { loopJob } from './cluster.ts';

const text = v.string();
const texts = v.pipe(v.array(text), v.readonly());

/** How a machine runs what it is given. */
const machineRules = v.object({
  folder: text,
  sandbox: v.picklist(['auto', ...providerNames]),
  allowHosts: texts,
  /** How `ralph` is called here. */
  ralph: texts,
  leaseMs: v.number(),
});
export type MachineRules = Readonly<v.InferOutput<typeof machineRules>>;

/** Messages from the process that holds the lease to the one that drives the loop. */
export const toDriver = v.variant('type', [
  v.object({ type: v.literal('begin'), job: loopJob, rules: machineRules }),
  v.object({ type: v.literal('run'), iteration: v.number() }),
  /** The lease is good since that many milliseconds. */
  v.object({ type: v.literal('renewed'), age: v.number() }),
  /** End the agent now. */
  v.object({ type: v.literal('stop'), why: text }),
  /** Nothing is left to do here; `end` is how the loop ended, null where it goes on elsewhere or later. */
  v.object({ type: v.literal('leave'), end: v.nullable(loopEnd) }),
]);
export type ToDriver = Readonly<v.InferOutput<typeof toDriver>>;

const gaveUp = v.picklist([
  /** Another machine was faster. */
  'fenced',
  /** The lease could not be renewed. */
  'lease',
  'stopped',
  /** The repository cannot be reached from here. */
  'unreachable',
  /** It cannot be done anywhere before a person has put something right. */
  'impossible',
]);
export type GaveUp = v.InferOutput<typeof gaveUp>;

export const fromDriver = v.variant('type', [
  v.object({ type: v.literal('alive') }),
  /** The iteration is on the branch, whoever put it there. */
  v.object({
    type: v.literal('ended'),
    iteration: v.number(),
    end: turnEnd,
    head: text,
    /** It was found there. */
    wasOnBranch: v.boolean(),
    /** State that another machine needs to go on from here. */
    runState: v.exactOptional(text),
  }),
  v.object({ type: v.literal('gave-up'), because: gaveUp, why: text, keptRef: v.nullable(text) }),
  /** The end of what the agent printed. */
  v.object({ type: v.literal('shows'), tail: text }),
  v.object({ type: v.literal('tells'), event: fleetEvent }),
]);
export type FromDriver = Readonly<v.InferOutput<typeof fromDriver>>;

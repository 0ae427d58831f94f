import * as v from 'valibot';
import { fleetEvent } from '../fleet/files/events.ts';
import { loopEnd } from '../fleet/files/loop-record.ts';
import { turnEnd } from '../fleet/iteration-end.ts';
import { providerNames } from '../sandbox/sandbox.ts';
import { loopJob } from './orders.ts';
import { setbackKinds } from './setback.ts';

const text = v.string();
const texts = v.pipe(v.array(text), v.readonly());

/** Rules by which a machine runs loops. */
const machineRules = v.object({
  folder: text,
  sandbox: v.picklist(['auto', ...providerNames]),
  allowHosts: texts,
  /** Command of `ralph` on this machine. */
  ralph: texts,
  leaseMs: v.number(),
});
export type MachineRules = Readonly<v.InferOutput<typeof machineRules>>;

/** Messages from the process that holds the lease to the one that drives the loop. */
export const toDriver = v.variant('type', [
  v.object({ type: v.literal('begin'), job: loopJob, rules: machineRules }),
  v.object({ type: v.literal('run'), iteration: v.number() }),
  /** The lease was renewed that many milliseconds ago. */
  v.object({ type: v.literal('renewed'), age: v.number() }),
  /** End the agent now. */
  v.object({ type: v.literal('stop'), why: text }),
  /** Exit. `end` tells how the loop ended; null if it goes on elsewhere or later. */
  v.object({ type: v.literal('leave'), end: v.nullable(loopEnd) }),
]);
export type ToDriver = Readonly<v.InferOutput<typeof toDriver>>;

export const fromDriver = v.variant('type', [
  v.object({ type: v.literal('alive') }),
  /** The iteration is on the branch. */
  v.object({
    type: v.literal('ended'),
    iteration: v.number(),
    end: turnEnd,
    head: text,
    /** True if an earlier try had pushed it. */
    wasOnBranch: v.boolean(),
    /** Run state that another machine needs to go on. */
    runState: v.exactOptional(text),
  }),
  v.object({
    type: v.literal('gave-up'),
    kind: v.picklist(setbackKinds),
    why: text,
    keptRef: v.nullable(text),
  }),
  /** The end of what the agent printed. */
  v.object({ type: v.literal('shows'), tail: text }),
  v.object({ type: v.literal('tells'), event: fleetEvent }),
]);
export type FromDriver = Readonly<v.InferOutput<typeof fromDriver>>;

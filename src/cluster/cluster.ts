import * as v from 'valibot';
import type { Stop } from '../fleet/end-loop.ts';
import type { IterationEnd, Spent } from '../fleet/iteration-end.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { StoredLimits } from '../store/fleet-limits.ts';
import { loopOptions, loopSettings } from '../store/fleet-loop-record.ts';
import type { LoopEnd, LoopStatus, Why } from '../store/fleet-loops.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());

/** A branch of a repository that any machine can reach. */
const workSource = v.object({
  repo: v.string(),
  /** Where the iterations are pushed to. */
  branch: v.string(),
  /** What it starts from where it does not exist yet; null is the default branch. */
  base: v.nullable(v.string()),
  /** The text of the prompt: the file is on the machine of whoever submitted it. */
  prompt: v.string(),
  /** Variables that the machine itself gives to the agent, by name: secrets are never in a store. */
  pass: texts,
});
export type WorkSource = Readonly<v.InferOutput<typeof workSource>>;

/** A loop as somebody hands it to a cluster. The name is its identity: handed in twice, it runs once. */
export const loopOrder = v.object({
  name: v.string(),
  command: texts,
  cwd: v.string(),
  env: v.pipe(v.record(v.string(), v.string()), v.readonly()),
  tags: texts,
  settings: loopSettings,
  options: loopOptions,
  /** Where the work is, for a machine that has nothing of it yet. */
  source: v.exactOptional(workSource),
  /** Labels that a machine has to have to run it. */
  labels: v.exactOptional(texts),
});
export type LoopOrder = Readonly<v.InferOutput<typeof loopOrder>>;

/** A loop of a cluster as anybody may see it. Times are epoch milliseconds. */
export type ClusterView = {
  readonly name: string;
  readonly status: LoopStatus;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly startedAt: number;
  readonly iterationStartedAt: number | null;
  readonly failures: number;
  readonly totalFailures: number;
  readonly why: Why;
  /** Null while it has not ended. */
  readonly end: LoopEnd | null;
  /** The machine that has it. */
  readonly host: string | null;
  readonly repo: string;
  readonly branch: string;
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly command: readonly string[];
  readonly account: string | null;
  readonly spent: Spent;
  /** The commit that was pushed last, where a machine has told it. */
  readonly head: string | null;
  readonly waitUntil: number | null;
  /** The last iteration whose end was booked. */
  readonly ended: number;
};

/** Limits over all machines. Null is no limit. */
export type ClusterLimits = StoredLimits & {
  readonly startsPerMinute: number | null;
  readonly maxCostUsd: number | null;
  /** What all iterations have cost since the limit was set. */
  readonly spentUsd: number;
};

export type LimitChange = Partial<Pick<ClusterLimits, 'maxParallel' | 'startsPerMinute' | 'maxCostUsd'>>;

/** What a machine tells of a loop that it holds. */
export type News = {
  readonly why?: Why;
  /** The end of what the agent prints: it takes the place of what was told before. */
  readonly tail?: string;
  readonly events?: readonly FleetEvent[];
  /** The commit that was pushed. */
  readonly head?: string;
  /** What the machine that goes on with the loop has to know, as text. */
  readonly carried?: string;
};

export type HostView = {
  readonly host: string;
  readonly labels: readonly string[];
  readonly draining: boolean;
  /** When it last asked for work or told that it is there. */
  readonly seenAt: number;
  /** It has been silent for so long that nobody should count on it. */
  readonly gone: boolean;
  readonly loops: readonly string[];
};

/** Who asks for work, where there are several machines. */
export type Claimant = {
  /** The machine, as people see it. */
  readonly host: string;
  /** Loops that ask for other labels are not for it. */
  readonly labels: readonly string[];
};

/** The right to run one iteration. Whoever holds the claim is the only one that may finish it. Plain data. */
const claim = v.object({
  name: v.string(),
  iteration: v.number(),
  maxIterations: v.number(),
  /** Shown again with every call: a claim that was given to another is refused by it. */
  token: v.string(),
});
export type Claim = Readonly<v.InferOutput<typeof claim>>;

/** What to do while an iteration runs. */
export type Beat =
  /** Go on. After this iteration there will be no next one where the loop is paused. */
  | { readonly kind: 'go-on'; readonly pausing: boolean }
  /** Somebody cancelled the loop: end the agent, finish nothing. */
  | { readonly kind: 'cancelled' }
  /** Another has the loop now, or it is gone: end the agent, touch nothing. */
  | { readonly kind: 'lost' };

/** What comes after an iteration. */
export const next = v.variant('kind', [
  /**
   * With a claim the loop stays with the caller, who runs the next iteration at once. Without one it was given back:
   * whoever asks first gets it.
   */
  v.object({ kind: v.literal('continue'), claim: v.nullable(claim) }),
  v.object({ kind: v.literal('wait'), until: v.number() }),
  v.object({ kind: v.literal('paused') }),
  v.object({ kind: v.literal('ended'), status: v.picklist(['stopped', 'failed']), exitCode: v.number() }),
]);
export type Next = Readonly<v.InferOutput<typeof next>>;

/** `changed` false: it was so already, or there is no such loop (`view` null). */
export type Controlled = { readonly changed: boolean; readonly view: ClusterView | null };

/**
 * A fleet over many machines. All verbs may be called by any process at any time; each is done as a whole or not at all.
 */
export type Cluster = {
  /** False when there is a loop of that name which has not ended. */
  submit(order: LoopOrder): Promise<boolean>;
  /** The next iteration that may run here and now: due, not paused, within the limits. Null where there is none. */
  claim(by?: Claimant): Promise<Claim | null>;
  /** Renews the right to the iteration, and tells what to do. Any process may do it for the one that runs it. */
  heartbeat(claim: Claim): Promise<Beat>;
  /** Books the end of an iteration once, however often it is called. */
  finishIteration(claim: Claim, end: IterationEnd): Promise<Next>;
  /** The iteration does not come to its end here: it is run again by whoever claims it next. */
  giveBack(claim: Claim): Promise<void>;
  /** The running iteration goes on to its end; no next one starts. */
  pause(name: string): Promise<Controlled>;
  resume(name: string): Promise<Controlled>;
  /** Ends the loop now; its agent is to be ended by whoever runs it. */
  cancel(name: string): Promise<Controlled>;
  status(name: string): Promise<ClusterView | null>;
  list(): Promise<readonly ClusterView[]>;
  limits(): Promise<ClusterLimits>;
  setLimits(change: LimitChange): Promise<void>;
  /** False where the account was not held. */
  releaseAccount(account: string): Promise<boolean>;
  /** What was submitted, for the machine that runs it. */
  order(name: string): Promise<LoopOrder | null>;
  /** Of a loop that another has by now, only the events are told. */
  report(claim: Claim, news: News): Promise<void>;
  events(name: string, count?: number): Promise<readonly FleetEvent[]>;
  /** Lines as in `iterations.log`. */
  log(name: string, count?: number): Promise<readonly string[]>;
  tail(name: string): Promise<string | null>;
  /** What the machine that had the loop last wants the next one to know. */
  carried(name: string): Promise<string | null>;
  hosts(): Promise<readonly HostView[]>;
  /** The name for a machine: its own, or a numbered one where another machine that is there has that. */
  register(by: Claimant, id: string): Promise<string>;
  /** A machine that drains gets no work, and its loops move after their iteration. Null is all of them. */
  drain(host: string | null, on: boolean): Promise<readonly string[]>;
  /** Puts the counters right, and ends the loop where it had ended; false where it runs just now or there is none. */
  recount(name: string, iterations: number, stop?: Stop): Promise<boolean>;
  /** Takes loops that are over off the list. */
  forget(name: string): Promise<boolean>;
  /** A letter for whoever takes from the box of that name. */
  post(box: string, text: string): Promise<void>;
  take(box: string): Promise<string | null>;
  close(): Promise<void>;
};

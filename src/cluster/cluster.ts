import * as v from 'valibot';
import type { Stop } from '../fleet/end-loop.ts';
import type { FleetEvent, Timeline } from '../fleet/files/events.ts';
import { loopOptions, loopSettings } from '../fleet/files/loop-record.ts';
import type { LoopRecord, Why } from '../fleet/files/loops.ts';
import { isWorkerName } from '../fleet/files/paths.ts';
import type { IterationEnd, Spent } from '../fleet/iteration-end.ts';
import { isBranchName, isInside, isPassable } from './checks.ts';
import type { Claimant, HostView } from './hosts.ts';
import type { ClusterLimits } from './limits.ts';
import type { Setback } from './setback.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());
const branchName = v.pipe(v.string(), v.check(isBranchName, 'no name for a branch'));
const variableName = v.pipe(v.string(), v.check(isPassable, 'a variable that loops cannot set'));
/** An option of `ralph run` that a submitter may give. Those for the sandbox are ignored: the machine has its own. */
const runWord = v.pipe(
  v.string(),
  v.regex(
    /^--(?:no-)?sandbox(?:=|$)|^--(?:completion-(?:promise|response)|done-pattern|verify|permissions|max-(?:time|cost|tokens)|stuck-after)=/,
  ),
);

/** A branch of a repository that any machine can reach. */
const workSource = v.object({
  repo: v.pipe(v.string(), v.regex(/^[^-]/)),
  /** Branch that the iterations are pushed to. */
  branch: branchName,
  /** Branch that a new one starts from; null is the default branch. */
  base: v.nullable(branchName),
  /** Text of the prompt, whose file is on the machine that submitted the loop. */
  prompt: v.string(),
  /** Names of variables that the machine passes to the agent: no secret is stored. */
  pass: v.pipe(v.array(variableName), v.readonly()),
});
export type WorkSource = Readonly<v.InferOutput<typeof workSource>>;

/** A loop as it is submitted. The name is its identity: submitted twice, it runs once. */
export const loopOrder = v.object({
  name: v.pipe(v.string(), v.check(isWorkerName)),
  command: v.pipe(texts, v.minLength(1)),
  cwd: v.pipe(v.string(), v.check(isInside, 'no folder inside a repository')),
  env: v.pipe(v.record(variableName, v.string()), v.readonly()),
  tags: texts,
  settings: loopSettings,
  options: v.object({
    ...loopOptions.entries,
    run: v.exactOptional(v.pipe(v.array(runWord), v.readonly())),
  }),
  /** Repository and branch of the work. */
  source: v.exactOptional(workSource),
  /** Labels that a machine needs to run it. */
  labels: v.exactOptional(texts),
});
export type LoopOrder = Readonly<v.InferOutput<typeof loopOrder>>;

/** A loop as a machine gets it to run. */
export const loopJob = v.object({
  ...v.omit(loopOrder, ['source', 'tags', 'labels']).entries,
  ...workSource.entries,
  /** Id of this submission: a loop that is submitted again under its old name begins anew. */
  id: v.pipe(v.string(), v.regex(/^\d+$/)),
  /** State of its run on the machine that had it before. */
  runState: v.exactOptional(v.string()),
});
export type LoopJob = Readonly<v.InferOutput<typeof loopJob>>;

/** A loop of a cluster for the views: its record, and where it is. */
export type ClusterView = LoopRecord & {
  readonly maxIterations: number;
  /** Machine that holds it. */
  readonly host: string | null;
  readonly repo: string;
  readonly branch: string;
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly command: readonly string[];
  readonly account: string | null;
  readonly spent: Spent;
  /** The commit that was pushed last; null if no machine reported one. */
  readonly head: string | null;
};

type LimitChange = Partial<Pick<ClusterLimits, 'maxParallel' | 'startsPerMinute' | 'maxCostUsd'>>;

/** Report of a machine about a loop that it holds. */
export type News = {
  readonly why?: Why;
  /** The end of what the agent printed; replaces the one before. */
  readonly tail?: string;
  readonly events?: readonly FleetEvent[];
  /** The commit that was pushed. */
  readonly head?: string;
  /** State for the next machine that runs the loop, as text. */
  readonly runState?: string;
};

/** The right to run one iteration. Only its holder may finish it. Plain data. */
const claim = v.object({
  name: v.string(),
  iteration: v.number(),
  maxIterations: v.number(),
  /** Sent with every call; refused once another machine has the loop. */
  token: v.string(),
  /** The lease: the queue that the loop was taken from, and its lock there. All iterations of a holder share it. */
  queue: v.string(),
  lock: v.string(),
});
export type Claim = Readonly<v.InferOutput<typeof claim>>;

/** What to do while an iteration runs. */
export type Beat =
  | { readonly kind: 'go-on' }
  /** The loop was cancelled: end the agent, book nothing. */
  | { readonly kind: 'cancelled' }
  /** Another machine has the loop, or it is gone: end the agent, touch nothing. */
  | { readonly kind: 'lost' };

/** What comes after an iteration. */
export const next = v.variant('kind', [
  /**
   * With a claim, the caller runs the next iteration at once. Without one, the loop is back in its queue.
   */
  v.object({ kind: v.literal('continue'), claim: v.nullable(claim) }),
  v.object({ kind: v.literal('wait'), until: v.number() }),
  v.object({ kind: v.literal('paused') }),
  v.object({ kind: v.literal('ended'), status: v.picklist(['stopped', 'failed']), exitCode: v.number() }),
]);
export type Next = Readonly<v.InferOutput<typeof next>>;

/** `changed` is false if nothing had to change, or if there is no such loop (`view` null). */
export type Controlled = { readonly changed: boolean; readonly view: ClusterView | null };

/**
 * A fleet over many machines. Any process may make any call at any time; each is atomic.
 */
export type Cluster = {
  /** False if a loop of that name has not ended. */
  submit(order: LoopOrder): Promise<boolean>;
  /** Claims the next iteration that is due, not paused and within the limits; null if there is none. */
  claim(by?: Claimant): Promise<Claim | null>;
  /** Renews the lease and says what to do. Any process may call it for the one that runs the iteration. */
  heartbeat(claim: Claim): Promise<Beat>;
  /** Books the end of an iteration once, however often it is called. */
  finishIteration(claim: Claim, end: IterationEnd): Promise<Next>;
  /** Gives an unfinished iteration back; the next claim runs it again. A setback says why, and what follows. */
  giveBack(claim: Claim, setback?: Setback): Promise<void>;
  /** Lets the running iteration end and starts no further one. */
  pause(name: string): Promise<Controlled>;
  resume(name: string): Promise<Controlled>;
  /** Ends the loop now, and its agent with the next heartbeat. */
  cancel(name: string): Promise<Controlled>;
  status(name: string): Promise<ClusterView | null>;
  list(): Promise<readonly ClusterView[]>;
  /** Loops whose records this version cannot read: of a newer version, or malformed and set aside. */
  unreadable(): Promise<readonly { readonly name: string; readonly isNewer: boolean }[]>;
  limits(): Promise<ClusterLimits>;
  setLimits(change: LimitChange): Promise<void>;
  /** False if the account was not held. */
  releaseAccount(account: string): Promise<boolean>;
  /** The loop as it was submitted. */
  order(name: string): Promise<LoopOrder | null>;
  /** Stores a report; only its events if another machine has the loop by now. */
  report(claim: Claim, news: News): Promise<void>;
  timeline(name: string): Promise<Timeline>;
  /** Lines as in `iterations.log`. */
  log(name: string, count?: number): Promise<readonly string[]>;
  tail(name: string): Promise<string | null>;
  /** Run state that the last machine left for the next one. */
  runState(name: string): Promise<string | null>;
  hosts(): Promise<readonly HostView[]>;
  /** Returns a name for a machine: its own, or a numbered one if another live machine has that. */
  register(by: Claimant, id: string): Promise<string>;
  /** Lets machines drain (null: all): they get no work, and their loops move on after the iteration. */
  drain(host: string | null, on: boolean): Promise<readonly string[]>;
  /** Corrects the counters, and ends the loop if `stop` is given; false if it is running or unknown. */
  recount(name: string, iterations: number, stop?: Stop): Promise<boolean>;
  /** Removes a loop that is over from the list. */
  forget(name: string): Promise<boolean>;
  /** Puts a message into a mailbox; `take` removes the oldest. */
  post(mailbox: string, text: string): Promise<void>;
  take(mailbox: string): Promise<string | null>;
  close(): Promise<void>;
};

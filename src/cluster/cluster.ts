import type { Stop } from '../fleet/end-loop.ts';
import type { IterationEnd, Spent } from '../fleet/iteration-end.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { StoredLimits } from '../store/fleet-limits.ts';
import type { LoopEnd, LoopOptions, LoopSettings, LoopStatus, Why } from '../store/fleet-loops.ts';

/** A loop as somebody hands it to a cluster. The name is its identity: handed in twice, it runs once. */
export type LoopOrder = {
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly settings: LoopSettings;
  readonly options: LoopOptions;
  /** Where the work is, for a machine that has nothing of it yet. */
  readonly source?: WorkSource;
  /** Labels that a machine has to have to run it. */
  readonly labels?: readonly string[];
};

/** A branch of a repository that any machine can reach. */
export type WorkSource = {
  readonly repo: string;
  /** Where the iterations are pushed to. */
  readonly branch: string;
  /** What it starts from where it does not exist yet; null is the default branch. */
  readonly base: string | null;
  /** The text of the prompt: the file is on the machine of whoever submitted it. */
  readonly prompt: string;
  /** Variables that the machine itself gives to the agent, by name: secrets are never in a store. */
  readonly pass: readonly string[];
};

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
export type Claim = {
  readonly name: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** Shown again with every call: a claim that was given to another is refused by it. */
  readonly token: string;
};

/** What to do while an iteration runs. */
export type Beat =
  /** Go on. After this iteration there will be no next one where the loop is paused. */
  | { readonly kind: 'go-on'; readonly pausing: boolean }
  /** Somebody cancelled the loop: end the agent, finish nothing. */
  | { readonly kind: 'cancelled' }
  /** Another has the loop now, or it is gone: end the agent, touch nothing. */
  | { readonly kind: 'lost' };

/** What comes after an iteration. */
export type Next =
  /**
   * With a claim the loop stays with the caller, who runs the next iteration at once. Without one it was given back:
   * whoever asks first gets it.
   */
  | { readonly kind: 'continue'; readonly claim: Claim | null }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'paused' }
  | { readonly kind: 'ended'; readonly status: 'stopped' | 'failed'; readonly exitCode: number };

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

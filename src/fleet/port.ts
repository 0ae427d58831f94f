import type { LoopEnd, LoopOptions, LoopSettings, LoopStatus, Why } from '../store/fleet-loops.ts';
import type { IterationEnd } from './iteration-end.ts';

/** A loop as somebody hands it to a fleet. The name is its identity: handed in twice, it runs once. */
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

/** A loop as anybody may see it. Times are epoch milliseconds. */
export type LoopView = {
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
  /** The machine that has it, where there are several. */
  readonly host: string | null;
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

/** Limits that hold over all loops of a fleet. */
export type FleetLimits = {
  /** Iterations at the same time; null is no limit. */
  readonly maxParallel: number | null;
  /** Until when the loops of an account wait, by account. */
  readonly holds: Readonly<Record<string, number>>;
};

/** `changed` false: it was so already, or there is no such loop (`view` null). */
export type Controlled = { readonly changed: boolean; readonly view: LoopView | null };

/**
 * The verbs of a fleet: on one machine over files, on many over a store. All of them may be called by any process at
 * any time; each is done as a whole or not at all.
 */
export type Fleet = {
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
  status(name: string): Promise<LoopView | null>;
  list(): Promise<readonly LoopView[]>;
  limits(): Promise<FleetLimits>;
  /** `maxParallel` of null takes the limit away. */
  setMaxParallel(maxParallel: number | null): Promise<void>;
  /** All loops of the account wait until then. */
  holdAccount(account: string, until: number): Promise<void>;
  close(): Promise<void>;
};

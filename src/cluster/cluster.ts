import type { Stop } from '../fleet/end-loop.ts';
import type { Spent } from '../fleet/iteration-end.ts';
import type { Claim, Claimant, Fleet, FleetLimits, LoopOrder, LoopView } from '../fleet/port.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { Why } from '../store/fleet-loops.ts';

/** A loop of a cluster as anybody may see it. */
export type ClusterView = LoopView & {
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
export type ClusterLimits = FleetLimits & {
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

/** A fleet over many machines, and what only that needs. */
export type Cluster = Omit<Fleet, 'status' | 'list' | 'limits'> & {
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
};

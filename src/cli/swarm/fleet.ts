import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import type { ClusterLimits } from '../../cluster/limits.ts';
import type { Timeline } from '../../fleet/files/events.ts';
import type { LoopRecord, Why } from '../../fleet/files/loops.ts';
import type { TopView } from '../../fleet/top.ts';
import type { Skipped } from '../../journal/event-lines.ts';

/** A loop of this machine, or one of a cluster, which has a host. */
export type ShownLoop = LoopRecord & Partial<Pick<ClusterView, 'host' | 'repo' | 'branch' | 'head'>>;

/** A worker of this machine, or a loop of a cluster. */
export type Member = {
  readonly name: string;
  readonly running: boolean;
  /** True also of a loop whose files are gone. */
  readonly isLoop: boolean;
  readonly loop: ShownLoop | null;
  readonly startedAt: number;
  /** Where it runs, in words. */
  readonly place: readonly string[];
};

export type WorktreeChoice = { readonly remove: boolean; readonly force: boolean };

/** Limits of this machine; those of a cluster may have a rate and a budget, too. */
export type Limits = Pick<ClusterLimits, 'maxParallel' | 'holds'> & Partial<ClusterLimits>;

/** The timeline of a worker, and the lines of its run's journal that were skipped; null if this machine has none. */
export type History = { readonly timeline: Timeline; readonly journal: Skipped | null };

/** The fleet of this machine or that of a cluster, as the commands need it. */
export type Fleet = {
  readonly isCluster: boolean;
  /** All members, or only the one of that name, if it is there. */
  all(only?: string): Promise<readonly Member[]>;
  /** Throws if there is no such worker. */
  need(name: string | undefined, exitCode?: number): Promise<Member>;
  loops(): Promise<readonly ShownLoop[]>;
  /** Throws also if it is no loop. Starts a supervisor if it has to, unless the caller will. */
  needLoop(name: string | undefined, revive?: boolean): Promise<ShownLoop>;
  /** False if nothing had to change. */
  pause(name: string): Promise<boolean>;
  /** Null if nothing had to change; else what it did besides. */
  resume(name: string): Promise<string | null>;
  /** Ends a worker, its loop and its agent; it stays on the list. */
  end(name: string, worktree?: WorktreeChoice): Promise<unknown>;
  /** Takes a worker off the list. Returns why not, if its loop goes on. */
  forget(name: string, worktree: WorktreeChoice): Promise<'running' | 'paused' | null>;
  /** Returns what a worker is doing, and hints about what to do next. */
  explain(member: Member): Promise<{ readonly why: Why; readonly hints: readonly string[] }>;
  history(name: string): Promise<History>;
  /** Lines as in `iterations.log`. */
  log(name: string): Promise<readonly string[]>;
  top(): Promise<TopView>;
  limits(): Promise<Limits>;
  setLimits(change: Parameters<Cluster['setLimits']>[0]): Promise<void>;
  /** False if the account was not held. */
  releaseAccount(account: string): Promise<boolean>;
};

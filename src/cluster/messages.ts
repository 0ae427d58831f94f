import type { SealedEnd } from '../fleet/iteration-end.ts';
import type { SandboxChoice } from '../safety/sandbox/sandbox.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { LoopEnd } from '../store/fleet-loops.ts';
import type { LoopJob } from './job.ts';

/** How a machine runs what it is given. */
export type MachineRules = {
  readonly folder: string;
  readonly sandbox: SandboxChoice;
  readonly allowHosts: readonly string[];
  /** How `ralph` is called here. */
  readonly ralph: readonly string[];
  readonly leaseMs: number;
};

/** What the process that holds the lease tells the one that runs the loop. */
export type ToRunner =
  | { readonly type: 'begin'; readonly job: LoopJob; readonly rules: MachineRules }
  | { readonly type: 'run'; readonly iteration: number }
  /** The lease is good since that many milliseconds. */
  | { readonly type: 'renewed'; readonly age: number }
  /** End the agent now. */
  | { readonly type: 'stop'; readonly why: string }
  /** Nothing is left to do here; `end` is how the loop ended, null where it goes on elsewhere or later. */
  | { readonly type: 'leave'; readonly end: LoopEnd | null };

export type FromRunner =
  | { readonly type: 'alive' }
  /** The iteration is on the branch, whoever put it there. */
  | {
      readonly type: 'ended';
      readonly iteration: number;
      readonly end: SealedEnd;
      readonly head: string;
      /** It was found there. */
      readonly found: boolean;
      /** What another machine would need to go on from here. */
      readonly carried?: string;
    }
  | { readonly type: 'gave-up'; readonly because: GaveUp; readonly why: string; readonly kept: string | null }
  /** The end of what the agent printed. */
  | { readonly type: 'shows'; readonly tail: string }
  | { readonly type: 'tells'; readonly event: FleetEvent };

export type GaveUp =
  /** Another machine was faster. */
  | 'fenced'
  /** The lease could not be renewed. */
  | 'lease'
  | 'stopped'
  /** The repository cannot be reached from here. */
  | 'unreachable'
  /** It cannot be done anywhere before a person has put something right. */
  | 'impossible';

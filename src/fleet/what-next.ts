import { isInIteration, isOpen, type LoopRecord } from './files/loops.ts';
import type { PaneOwner } from './worker-window.ts';

export type Facts = {
  readonly loop: LoopRecord;
  readonly now: number;
  /** Its pane; null if there is none, undefined before the first look after the start. */
  readonly pane:
    | { readonly owner: PaneOwner; readonly dead: boolean; readonly exitCode: number | null }
    | null
    | undefined;
  /** Last start and end that the worker itself wrote, by the number of the start. */
  readonly started: number | null;
  readonly ended: { readonly launch: number; readonly exitCode: number } | null;
  readonly missedBefore: boolean;
  /** False if the pane went away while no supervisor watched it. */
  readonly isWatched: boolean;
};

export type Action =
  /** Nothing is left to drive here. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'start' }
  /** Paused before it started, or lost in a crash: gives the iteration back. */
  | { readonly kind: 'unclaim'; readonly isLost: boolean }
  /** The agent works: look at its screen. */
  | { readonly kind: 'watch' }
  /** Not certain yet: look again. */
  | { readonly kind: 'look' }
  | { readonly kind: 'finish'; readonly how: 'exited' | 'lost'; readonly exitCode: number | null };

/** Returns the next action on a loop, by the files that its window wrote, then by tmux. */
export function whatNext({ loop, now, pane, started, ended, missedBefore, isWatched }: Facts): Action {
  if (loop.held || !isOpen(loop)) return { kind: 'leave' };
  if (loop.iteration === loop.ended) {
    if (loop.status === 'paused') return { kind: 'leave' };
    const { waitUntil } = loop;
    return waitUntil !== null && waitUntil > now ? { kind: 'wait', until: waitUntil } : { kind: 'start' };
  }
  if (ended?.launch === loop.launch) return { kind: 'finish', how: 'exited', exitCode: ended.exitCode };
  if (pane === undefined) return { kind: 'look' };
  if (pane !== null && pane.owner.launch === loop.launch) {
    if (!pane.dead) return { kind: 'watch' };
    return { kind: 'finish', how: pane.exitCode === null ? 'lost' : 'exited', exitCode: pane.exitCode };
  }
  if (started === loop.launch) {
    if (!missedBefore) return { kind: 'look' };
    // A run decides itself on a process that died.
    if (!isWatched && loop.options.run === undefined) return { kind: 'unclaim', isLost: true };
    return { kind: 'finish', how: 'lost', exitCode: null };
  }
  // A crash came between the claim and the start.
  return loop.status === 'running' ? { kind: 'start' } : { kind: 'unclaim', isLost: false };
}

export function needsDriving(loop: LoopRecord | null): boolean {
  if (loop === null || loop.held) return false;
  return loop.status === 'running' || (loop.status === 'paused' && isInIteration(loop));
}

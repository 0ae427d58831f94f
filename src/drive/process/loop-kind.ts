import type { Check } from '../../core/evidence.ts';
import type { Progress, Turn } from '../../core/turn.ts';
import type { EventBody } from '../../journal/events.ts';
import type { Environment } from '../../os/process/process.ts';

/** Appends to the journal and tells the observer. */
export type Recorder = (body: EventBody) => void;

/** Steps of a kind of loop around each turn: a plain one (`plainLoop`), or one over a PRD. */
export type LoopKind = {
  /** Added to the environment of the agent. */
  readonly env: Environment;
  /** Also ends processes of a turn that left its process tree: the next turn may judge this one. */
  readonly traced: boolean;
  /** Takes text that is no event of the agent's stream as its answer. */
  readonly plainText: boolean;
  /** Continues the agent's session after a limit cut it; otherwise every try starts a fresh agent. */
  readonly resumesSession: boolean;
  /** Returns the task of an iteration that starts on the commit `head`, and the events to record for it. */
  prepare(iteration: number, task: string, head: string | null): PreparedIteration;
  progressOf(changes: Progress): Progress;
  /** Checks the work after the turn, and again after commands that may have changed it. */
  inspect(turn: TurnToInspect, record: Recorder): Promise<Inspection>;
  close(): void;
};

type PreparedIteration = { readonly task: string; readonly events: readonly EventBody[] };

export type TurnToInspect = Pick<Turn, 'end' | 'progress'> & { readonly iteration: number };

export type Inspection = {
  readonly checks: readonly Check[];
  /** Checks that count only for a claim. */
  readonly evidence: readonly Check[];
  /** True if tasks.json says that every story is done. Counts as a claim even without a tag. */
  readonly done: boolean;
  /** True if the inspection itself made a commit, which is no progress of the agent. */
  readonly committed: boolean;
};

export const plainLoop: LoopKind = {
  env: {},
  traced: false,
  plainText: false,
  resumesSession: true,
  prepare: (_iteration, task) => ({ task, events: [] }),
  progressOf: (changes) => changes,
  inspect: async () => ({ checks: [], evidence: [], done: false, committed: false }),
  close: () => {},
};

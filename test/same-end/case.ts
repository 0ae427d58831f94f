import type { Check } from '../../src/core/evidence.ts';
import type { Completion, LoopPlan, PromiseMatch } from '../../src/core/loop.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Turn } from '../../src/core/turn.ts';
import type { ScriptTurn } from '../../src/testkit/index.ts';

/** The settings of a case. Every driver passes them on in its own form. */
export type CaseSettings = {
  readonly maxIterations: number;
  readonly maxFailures?: number;
  readonly stuckAfter?: number;
  readonly maxTokens?: number;
  readonly maxIterationTokens?: number;
  readonly maxCost?: number;
  readonly maxIterationCost?: number;
  /** Milliseconds. */
  readonly maxTime?: number;
  /** Seconds. */
  readonly maxWait?: number;
  /** Seconds of silence after which an agent is ended. */
  readonly idleTimeout?: number;
  /** Seconds after which an agent is ended. */
  readonly iterationTimeout?: number;
  readonly minToolCalls?: number;
  readonly match?: PromiseMatch;
  /** Done is `<response>COMPLETE</response>` instead of the promise. */
  readonly response?: true;
  /** Done is a match of this pattern instead of the promise. */
  readonly pattern?: string;
  /** Nothing says when the task is done. */
  readonly noGoal?: true;
  /** A guardrail that passes once the agent took the step `finish`. */
  readonly guardrail?: true;
  /** A verify command that passes once the agent took the step `finish`. */
  readonly verify?: true;
  /** Another loop runs in the working copy. */
  readonly busy?: true;
};

/** A row of the table: what is set, and what the agent does turn by turn; the last turn repeats. */
export type Case = {
  readonly name: string;
  readonly settings: CaseSettings;
  readonly turns: readonly ScriptTurn[];
  /** How many iterations there are depends on the speed of the machine. */
  readonly isTimed?: true;
  /** How `ralph run` ends: the outcome, the iterations, and the reason where several lead to this outcome. */
  readonly ends: readonly [Outcome, iterations: number, code?: string];
};

/** How a loop ended. A driver leaves out what its users cannot see. */
export type End = {
  readonly outcome?: Outcome;
  readonly iterations?: number;
  readonly code?: string;
  readonly text?: string;
  readonly exitCode?: number;
};

/** What a case can ask of a driver: a setting, or something that happens in a turn. */
export type Feature =
  | Exclude<keyof CaseSettings, 'maxIterations' | 'match'>
  | 'promise'
  | 'failed turn'
  | 'provider limit'
  | 'interrupt'
  | 'empty turn'
  | 'prompt file gone'
  | 'agent gone'
  | 'logged out';

/** A difference that a seed or DESIGN.md asks for, as a change of what `decide` is asked. */
export type Difference = {
  readonly source: string;
  readonly what: string;
  /** The first iteration, where it is not 1. */
  readonly firstIteration?: 0;
  readonly plan?: (plan: LoopPlan) => LoopPlan;
  /** The turn as this driver sees it. `finished`: the agent took the step `finish`, in this turn or before. */
  readonly turn?: (turn: Turn, finished: boolean) => Turn;
  /** More evidence for or against a claim. */
  readonly evidence?: (finished: boolean) => Check;
  readonly end?: (end: End, completion: Completion) => End;
};

export type Driver = {
  readonly differences: readonly Difference[];
  /** Why the driver cannot play a case that asks for this. */
  readonly lacks: Partial<Record<Feature, string>>;
  /** Plays a case and tells how the loop ended. */
  play(played: Case): Promise<End>;
};

export const token = 'COMPLETE';
export const tag = `<promise>${token}</promise>`;
export const task = `Do the task, and print ${tag} at the end.`;

/** Changes something, without finishing the task. */
export const work = { shell: 'echo work >> work.txt' };
/** Calls a tool that changes nothing. */
export const look = { shell: 'true' };
/** Finishes the task: from here on the guardrail and the verify command pass, and tasks.json is complete. */
export const finish = { shell: 'echo finished > finished.txt' };
/** Removes the prompt file, and the program of the agent. */
export const removePrompt = { shell: 'rm PROMPT.md' };
export const removeAgent = { shell: 'rm "$(command -v claude)"; echo work >> work.txt' };
export const check = 'test -e finished.txt';

/** What a case asks of a driver. */
export function featuresOf({ settings, turns }: Case): Feature[] {
  const { maxIterations: _max, match: _match, ...others } = settings;
  const asked = new Set<string>(Object.keys(others));
  if (!settings.pattern && !settings.response && !settings.noGoal) asked.add('promise');
  for (const turn of turns) {
    if (turn.exitCode || turn.steps.some((step) => 'result' in step && step.result.ok === false))
      asked.add('failed turn');
    if (turn.steps.some((step) => 'error' in step)) asked.add('provider limit');
    if (turn.steps.some((step) => 'error' in step && step.error.status === 401)) asked.add('logged out');
    if (isInterrupted({ settings, turns: [turn] })) asked.add('interrupt');
    if (turn.steps.includes(removePrompt)) asked.add('prompt file gone');
    if (turn.steps.includes(removeAgent)) asked.add('agent gone');
    if (turn.steps.length === 0) asked.add('empty turn');
  }
  return [...asked] as Feature[];
}

/** Whether somebody interrupts a turn: one that hangs, and that no time limit ends. */
export function isInterrupted({ settings, turns }: Pick<Case, 'settings' | 'turns'>): boolean {
  if (settings.idleTimeout || settings.iterationTimeout) return false;
  return turns.some(({ steps }) => steps.some((step) => 'hang' in step));
}

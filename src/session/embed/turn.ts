import { type Decided, decide, newLoop } from '../../core/decide.ts';
import { type LoopPlan, type LoopState, noLimits } from '../../core/loop.ts';
import { composePrompt } from '../../core/prompt.ts';
import { fillTemplate } from '../../core/template.ts';
import type { Turn } from '../../core/turn.ts';
import type { RalphLoopCounters, RalphLoopState } from '../../store/embedded-loop.ts';
import { CONTINUATION_PROMPT_TEMPLATE } from './constants.ts';
import { isFromAssistant, type Message } from './messages.ts';
import type { RalphLoopConfig } from './types.ts';

/** Asks the core about a turn of this loop. `error` is what the host said went wrong in it. */
export function decideTurn(
  state: RalphLoopState,
  config: RalphLoopConfig,
  messages: readonly Message[],
  error: string | null,
  now: number,
): Decided {
  const answers = messages.filter(isFromAssistant);
  const text = answers.flatMap((message) => message.text);
  const failed = error !== null && text.length === 0;
  const turn: Turn = {
    text,
    toolCalls: toolCallsIn(answers),
    end: failed ? 'failed' : 'finished',
    exitCode: null,
    progress: { commits: 0, filesChanged: 0 },
    ...(failed ? { error } : {}),
    endedAt: now,
    durationMs: 0,
  };
  return decide(loopOf(state, config), turn, []);
}

/** The state of the coming iteration. */
export function nextState(state: RalphLoopState, loop: LoopState, now: number): RalphLoopState {
  const counters: RalphLoopCounters = {
    toolCalls: loop.toolCalls,
    withoutTools: loop.withoutTools,
    failures: loop.failures,
  };
  return { ...state, iteration: loop.iteration, lastIterationAt: new Date(now).toISOString(), counters };
}

/** The prompt of the next iteration: an instruction, the template around the task, and feedback on the last turn. */
export function continuationOf(loop: LoopState, instruction?: string): string {
  const { completion, limits } = loop.plan;
  const task = fillTemplate(CONTINUATION_PROMPT_TEMPLATE, {
    ITERATION: loop.iteration,
    MAX: limits.iterations ?? '∞',
    PROMISE: completion.promise?.token ?? '',
    PROMPT: loop.task,
  });
  const prompt = composePrompt({ ...loop, task });
  return instruction === undefined ? prompt : `${instruction}\n\n${prompt}`;
}

/** Null where no message says anything about tools. */
function toolCallsIn(answers: readonly Message[]): number | null {
  const told = answers.flatMap(({ toolCalls }) => toolCalls ?? []);
  return told.length === 0 ? null : told.reduce((sum, calls) => sum + calls, 0);
}

function loopOf(state: RalphLoopState, config: RalphLoopConfig): LoopState {
  return { ...newLoop(planOf(state, config), state.prompt, state.iteration), ...state.counters };
}

function planOf(state: RalphLoopState, config: RalphLoopConfig): LoopPlan {
  const match = state.match ?? config.match ?? 'lenient';
  return {
    id: state.sessionId,
    completion: { promise: { token: state.completionPromise, match } },
    limits: {
      ...noLimits,
      iterations: state.maxIterations,
      failures: config.maxFailures ?? noLimits.failures,
      withoutTools: config.maxTurnsWithoutTools ?? 0,
    },
    minToolCalls: state.minToolCalls ?? config.minToolCalls ?? null,
    countInPrompt: false,
  };
}

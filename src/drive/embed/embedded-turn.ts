import { type Decided, decide, newLoop } from '../../core/decide.ts';
import { type LoopPlan, type LoopState, noLimits } from '../../core/loop.ts';
import { composePrompt } from '../../core/prompt.ts';
import { fillTemplate } from '../../core/template.ts';
import type { Turn } from '../../core/turn.ts';
import { CONTINUATION_PROMPT_TEMPLATE } from './constants.ts';
import type { RalphLoopCounters, RalphLoopState } from './embedded-loop.ts';
import { allRefusedIn, isFromAssistant, type Message, toolCallsIn } from './host-messages.ts';
import type { RalphLoopConfig } from './types.ts';

/** A turn of the host's session. `error` is what the host reported as its failure. */
type EmbeddedTurn = {
  readonly messages: readonly Message[];
  readonly error: string | null;
  readonly endedAt: number;
};

/** Asks the core what follows from a turn. */
export function decideTurn(
  state: RalphLoopState,
  config: RalphLoopConfig,
  { messages, error, endedAt }: EmbeddedTurn,
): Decided {
  const answers = messages.filter(isFromAssistant);
  const text = answers.flatMap((message) => message.text);
  const isFailure = error !== null && text.length === 0;
  const turn: Turn = {
    text,
    toolCalls: toolCallsIn(messages),
    allRefused: allRefusedIn(messages),
    end: isFailure ? 'failed' : 'finished',
    exitCode: null,
    progress: { commits: 0, filesChanged: 0 },
    ...(isFailure ? { error } : {}),
    endedAt,
    durationMs: 0,
  };
  return decide(loopOf(state, config), turn, []);
}

/** Returns the state of the next iteration. */
export function nextState(state: RalphLoopState, loop: LoopState, now: number): RalphLoopState {
  const counters: RalphLoopCounters = {
    toolCalls: loop.toolCalls,
    withoutTools: loop.withoutTools,
    failures: loop.failures,
    ...(loop.refusals ? { refusals: loop.refusals } : {}),
  };
  return { ...state, iteration: loop.iteration, lastIterationAt: new Date(now).toISOString(), counters };
}

/** Builds the prompt of the next iteration: an instruction, the template around the task, and feedback on the last turn. */
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

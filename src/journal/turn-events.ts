import type { AgentEvent } from '../agents/adapter.ts';
import type { Decided } from '../core/decide.ts';
import type { LoopState } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import type { Turn } from '../core/turn.ts';
import type { EventBody, EventOf } from './events.ts';
import type { RecordedReason } from './loop-schemas.ts';

/** Characters of the end of the agent's text in the journal. */
export const keptText = 2000;
const keptPrompt = 200;

/** Current commit; empty without git. */
export type Place = { readonly head?: string; readonly tree?: string };

export function iterationStarted(
  { iteration, plan }: LoopState,
  prompt: string,
  place: Place = {},
): EventBody {
  return {
    type: 'iteration.started',
    iteration,
    of: plan.limits.iterations,
    promptChars: prompt.length,
    promptStart: prompt.slice(0, keptPrompt),
    ...place,
  };
}

/** Returns the events for the journal: tool calls and the agent's list of todos. */
export function streamEvents(iteration: number, event: AgentEvent): EventBody[] {
  switch (event.type) {
    case 'tool-start': {
      const { id, name, summary } = event;
      return [{ type: 'tool.started', iteration, id, name, summary }];
    }
    case 'tool-end': {
      const { id, ok, exitCode } = event;
      return [{ type: 'tool.ended', iteration, id, ok, ...(exitCode === undefined ? {} : { exitCode }) }];
    }
    case 'todo':
      return [{ type: 'todo', iteration, items: event.items }];
    default:
      return [];
  }
}

/** Returns the end of the agent's turn, with what only its driver knows. */
export function agentEnded(
  iteration: number,
  turn: Omit<Turn, 'endedAt' | 'durationMs'>,
  driver: Pick<
    EventOf<'agent.ended'>,
    'cause' | 'ms' | 'session' | 'model' | 'context' | 'swept' | 'unknownEvents'
  >,
): EventBody {
  const { text, end, exitCode, toolCalls, progress, usage, limit, error } = turn;
  return {
    type: 'agent.ended',
    iteration,
    end,
    exitCode,
    toolCalls,
    progress,
    text: text.join('\n').slice(-keptText),
    ...driver,
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
  };
}

/** Returns the verdict, if there was a claim, and the decision. */
export function decisionEvents(
  iteration: number,
  { loop, verdict, decision }: Decided,
  place: Place = {},
): EventBody[] {
  const { plan: _plan, task: _task, ...saved } = loop;
  return [
    ...(verdict ? [{ type: 'verdict', iteration, ...verdict } as const] : []),
    { type: 'decision', iteration, ...decision, ...place, loop: saved },
  ];
}

export type RecordedDecision =
  | { readonly kind: 'continue'; readonly because: RecordedReason }
  | { readonly kind: 'wait'; readonly because: RecordedReason; readonly ms: number }
  | { readonly kind: 'stop'; readonly because: RecordedReason; readonly outcome: Outcome };

/** Reads a decision back; null if a part of it is missing. */
export function decisionOf({ kind, because, outcome, ms }: EventOf<'decision'>): RecordedDecision | null {
  if (kind === 'continue') return { kind, because };
  if (kind === 'wait') return ms === undefined ? null : { kind, because, ms };
  return outcome === undefined ? null : { kind, because, outcome };
}

export function runEnded(
  end: { readonly outcome: Outcome; readonly because: RecordedReason; readonly exitCode?: number },
  { iteration: iterations, usage }: Pick<LoopState, 'iteration' | 'usage'>,
  ms: number,
): EventBody {
  const { outcome, because, exitCode = outcomes[outcome].exitCode } = end;
  return { type: 'run.ended', outcome, exitCode, because, iterations, usage, ms: Math.round(ms) };
}

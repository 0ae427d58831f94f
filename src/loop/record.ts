import type { AgentEvent } from '../agents/adapter.ts';
import type { Decided } from '../core/decide.ts';
import type { Progress } from '../core/turn.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Recorder } from './run-spec.ts';

const keptText = 2000;

export function recordTool(event: AgentEvent, iteration: number, record: Recorder): void {
  if (event.type === 'tool-start') {
    record({ type: 'tool.started', iteration, id: event.id, name: event.name, summary: event.summary });
  } else if (event.type === 'tool-end') {
    const { id, ok, exitCode } = event;
    const ended = { type: 'tool.ended', iteration, id, ok } as const;
    record(exitCode === undefined ? ended : { ...ended, exitCode });
  } else if (event.type === 'todo') {
    record({ type: 'todo', iteration, items: event.items });
  }
}

export function recordAgentEnd(
  turn: AgentTurn,
  iteration: number,
  progress: Progress,
  record: Recorder,
): void {
  const { end, exitCode, toolCalls, usage, limit, error, sessionId, context, unknown, process } = turn;
  record({
    type: 'agent.ended',
    iteration,
    end,
    cause: process.cause,
    exitCode,
    toolCalls,
    ms: Math.round(turn.ms),
    progress,
    text: turn.text.join('\n').slice(-keptText),
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
    ...(context ? { context } : {}),
    ...(sessionId ? { session: sessionId } : {}),
    ...(process.sweptPids.length > 0 ? { swept: process.sweptPids } : {}),
    ...(Object.keys(unknown).length > 0 ? { unknownEvents: unknown } : {}),
  });
}

export function recordDecision(
  { loop, verdict, decision }: Decided,
  iteration: number,
  place: { readonly head?: string },
  record: Recorder,
): void {
  if (verdict) record({ type: 'verdict', iteration, ...verdict });
  const { plan: _plan, task: _task, ...saved } = loop;
  record({
    type: 'decision',
    iteration,
    kind: decision.kind,
    because: decision.because,
    ...(decision.kind === 'stop' ? { outcome: decision.outcome } : {}),
    ...(decision.kind === 'wait' ? { ms: decision.ms } : {}),
    ...place,
    loop: saved,
  });
}

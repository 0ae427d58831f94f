import type { Decided } from '../core/decide.ts';
import type { Reason } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import type { Turn } from '../core/turn.ts';
import type { EventBody } from '../store/events.ts';
import { appendEvents } from '../store/journal-append.ts';
import type { SessionLoop } from '../store/session-loops.ts';

/** How much of the agent's last words the journal keeps. */
export const keptText = 2000;

/** Appends events to the journal of a loop. */
export function recorder(events: readonly EventBody[], now: () => number): (journal: string) => void {
  return (journal) => appendEvents(journal, events, now);
}

export function startEvents(state: SessionLoop, version: string, promptChars: number): EventBody[] {
  const { run, cwd, host, command, loop } = state;
  return [
    {
      type: 'run.started',
      run,
      version,
      pid: process.pid,
      cwd,
      agent: host,
      command: `/${command}`,
      plan: loop.plan,
      task: loop.task,
      cli: [],
    },
    iterationEvent(state, promptChars),
  ];
}

export function iterationEvent({ loop }: SessionLoop, promptChars: number): EventBody {
  return {
    type: 'iteration.started',
    iteration: loop.iteration,
    of: loop.plan.limits.iterations,
    promptChars,
  };
}

/** The turn that ended, what was found about it, and what was decided. */
export function turnEvents(
  { sessionId, loop: { iteration } }: SessionLoop,
  turn: Turn,
  { loop, verdict, decision }: Decided,
): EventBody[] {
  const { plan: _plan, task: _task, ...saved } = loop;
  return [
    {
      type: 'agent.ended',
      iteration,
      end: turn.end,
      cause: 'exited',
      exitCode: null,
      toolCalls: turn.toolCalls,
      ms: turn.durationMs,
      session: sessionId,
      progress: turn.progress,
      text: turn.text.join('\n').slice(-keptText),
    },
    ...(verdict ? [{ type: 'verdict' as const, iteration, ...verdict }] : []),
    {
      type: 'decision',
      iteration,
      kind: decision.kind,
      because: decision.because,
      ...(decision.kind === 'stop' ? { outcome: decision.outcome } : {}),
      loop: saved,
    },
  ];
}

export function endEvent(state: SessionLoop, outcome: Outcome, because: Reason, now: number): EventBody {
  return {
    type: 'run.ended',
    outcome,
    exitCode: outcomes[outcome].exitCode,
    because,
    iterations: state.loop.iteration,
    usage: state.loop.usage,
    ms: now - state.startedAt,
  };
}

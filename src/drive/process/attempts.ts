import { acpAgent } from '../../agents/acp/agent.ts';
import type { AgentAdapter } from '../../agents/adapter.ts';
import { type RecordedOutput, userAgent } from '../../agents/custom/user-agent.ts';
import { agentNameOf, agents } from '../../agents/registry.ts';
import { RalphError } from '../../core/error.ts';
import type { LoopPlan } from '../../core/loop.ts';
import type { EventOf, JournalEvent } from '../../journal/events.ts';
import { last } from '../../journal/runs.ts';
import { earlierLog } from '../../journal/stream-log.ts';

/** One attempt of an iteration; waits and resumes may need several. */
export type Attempt = {
  readonly iteration: number;
  readonly plan: LoopPlan;
  readonly adapter: AgentAdapter;
  readonly events: JournalEvent[];
};

/** Splits the events of a run by attempt, each with the plan and the agent that it had. */
export function attemptsOf(
  events: readonly JournalEvent[],
  started: EventOf<'run.started'>,
  isSession: boolean,
): Attempt[] {
  const attempts: Attempt[] = [];
  let { plan } = started;
  // A host has no stream to read.
  let adapter = adapterOf(started.run, isSession ? 'custom' : started.agent, started.output);
  for (const event of events) {
    if (event.type === 'run.resumed') {
      plan = event.plan ?? plan;
      adapter = event.agent === undefined ? adapter : adapterOf(started.run, event.agent, event.output);
    }
    // The end of the agent tells its iteration as well, should the beginning be damaged.
    const begins =
      event.type === 'iteration.started' ||
      (event.type === 'agent.ended' && event.iteration !== attempts.at(-1)?.iteration);
    if (begins) attempts.push({ iteration: event.iteration, plan, adapter, events: [] });
    attempts.at(-1)?.events.push(event);
  }
  return attempts;
}

/** Returns the log of an attempt: a later one of the same iteration has renamed it. */
export function streamOf(attempt: Attempt, attempts: readonly Attempt[], path: string): string {
  const tries = attempts.filter(
    ({ iteration, events }) => iteration === attempt.iteration && last(events, 'agent.started'),
  );
  const nth = tries.indexOf(attempt) + 1;
  return nth === 0 || nth === tries.length ? path : earlierLog(path, nth);
}

function adapterOf(run: string, agent: string, output?: RecordedOutput): AgentAdapter {
  const adapter = recordedAdapter(agent, output);
  if (adapter !== null) return adapter;
  throw unreadable(run, `this version of ralph does not know its agent "${agent}"`);
}

/** The adapter of an agent that a journal names; null for one that this version does not know. */
export function recordedAdapter(agent: string, output: RecordedOutput = 'text'): AgentAdapter | null {
  if (output === 'acp') return acpAgent(agent);
  if (agent === 'custom') return userAgent({ args: [], output });
  const adapter = agents[agentNameOf(agent)];
  return adapter.name === agent ? adapter : null;
}

export function unreadable(run: string, why: string): RalphError {
  return new RalphError('run-unreadable', `run ${run} cannot be judged again: ${why}`, {
    remedy: 'ralph runs',
  });
}

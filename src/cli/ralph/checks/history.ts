import { projectPaths } from '../../../config/paths.ts';
import { runningLoop } from '../../../drive/process/ownership.ts';
import { listRuns, readRun } from '../../../journal/runs.ts';
import { readText } from '../../../os/files/files.ts';
import type { HealthCheck } from './health-check.ts';

const runsLookedAt = 20;

/** Whether the last run here came to its end. */
export function checkLastRun(cwd: string): HealthCheck {
  const id = 'last-run';
  const running = runningLoop(cwd);
  if (running) {
    const evidence = `run ${running.run} is running here (process ${running.pid}, since ${running.since})`;
    return { id, status: 'ok', evidence };
  }
  const run = listRuns(cwd).at(-1);
  const view = run === undefined ? null : readRun(cwd, run).view;
  if (view?.state === 'yielded') {
    const evidence = `run ${view.run} waits for its supervisor to start the next iteration`;
    return { id, status: 'ok', evidence };
  }
  if (view !== null && view.outcome === null) {
    const evidence = `run ${view.run} was killed in iteration ${view.iteration}`;
    return { id, status: 'warning', evidence, remedy: 'ralph run --resume' };
  }
  const { lock } = projectPaths(cwd);
  if (readText(lock) !== null) {
    const evidence = `${lock} was left by a process that is dead`;
    return { id, status: 'warning', evidence, remedy: 'nothing: the next ralph run takes it over' };
  }
  const evidence = view === null ? 'no run yet' : `run ${view.run} ended with ${view.outcome}`;
  return { id, status: 'ok', evidence };
}

/** Events of agents that no adapter knew, by agent and version: a sign that a CLI has changed. */
export function checkUnknownEvents(cwd: string): HealthCheck {
  const id = 'agent.events';
  const runs = listRuns(cwd).slice(-runsLookedAt);
  const unknown = countUnknownEvents(cwd, runs);
  if (unknown.size === 0) {
    return { id, status: 'ok', evidence: `none that ralph does not know, in ${runs.length} runs` };
  }
  const lists = [...unknown].map(([agent, counts]) => {
    const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} (${count})`);
    return `${agent}: ${names.slice(0, 10).join(', ')}`;
  });
  return {
    id,
    status: 'warning',
    evidence: `not known in the last ${runs.length} runs: ${lists.join('; ')}`,
    remedy: 'npm install -g ralphkit',
  };
}

function countUnknownEvents(cwd: string, runs: readonly string[]): Map<string, Map<string, number>> {
  const unknown = new Map<string, Map<string, number>>();
  for (const run of runs) {
    let agent = 'unknown agent';
    for (const event of readRun(cwd, run).events) {
      if (event.type === 'run.started' || event.type === 'run.resumed') {
        agent = `${event.agent ?? agent} ${event.agentVersion ?? ''}`.trim();
      }
      if (event.type !== 'agent.ended' || event.unknownEvents === undefined) continue;
      const counts = unknown.get(agent) ?? new Map<string, number>();
      unknown.set(agent, counts);
      for (const [name, count] of Object.entries(event.unknownEvents)) {
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    }
  }
  return unknown;
}

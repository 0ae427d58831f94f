import { projectPaths } from '../../../config/paths.ts';
import { runningLoop } from '../../../drive/process/ownership.ts';
import { goOnCommand } from '../../../journal/next-command.ts';
import { listRuns, readRun } from '../../../journal/runs.ts';
import { readText } from '../../../os/files/files.ts';
import { type HealthCheck, resultsOf } from './health-check.ts';

const runsLookedAt = 20;

/** Checks that the last run here came to its end. */
export function checkLastRun(cwd: string): HealthCheck {
  const { ok, warning } = resultsOf('last-run');
  const running = runningLoop(cwd);
  if (running) {
    return ok(`run ${running.run} is running here (process ${running.pid}, since ${running.since})`);
  }
  const run = listRuns(cwd).at(-1);
  const view = run === undefined ? null : readRun(cwd, run).view;
  if (view?.state === 'yielded')
    return ok(`run ${view.run} waits for its supervisor to start the next iteration`);
  if (view !== null && view.outcome === null) {
    return warning(`run ${view.run} was killed in iteration ${view.iteration}`, goOnCommand(view));
  }
  const { lock } = projectPaths(cwd);
  if (readText(lock) !== null) {
    return warning(`${lock} was left by a process that is dead`, 'nothing: the next ralph run takes it over');
  }
  return ok(view === null ? 'no run yet' : `run ${view.run} ended with ${view.outcome}`);
}

/** Lists agent events that no adapter knew, by agent and version: a sign that a CLI has changed. */
export function checkUnknownEvents(cwd: string): HealthCheck {
  const { ok, warning } = resultsOf('agent.events');
  const runs = listRuns(cwd).slice(-runsLookedAt);
  const unknown = countUnknownEvents(cwd, runs);
  if (unknown.size === 0) return ok(`none that ralph does not know, in ${runs.length} runs`);
  const lists = [...unknown].map(([agent, counts]) => {
    const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} (${count})`);
    return `${agent}: ${names.slice(0, 10).join(', ')}`;
  });
  const evidence = `not known in the last ${runs.length} runs: ${lists.join('; ')}`;
  return warning(evidence, 'nothing, unless verdicts look wrong; a newer ralphkit may know these events');
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

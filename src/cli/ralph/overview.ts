import { join } from 'node:path';
import { projectFile } from '../../config/settings-layers.ts';
import { goOnCommand, lastPrd, openQuestion } from '../../drive/human.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { readText } from '../../os/files/files.ts';

/** What a person who only types `ralph` wants to know: how things stand here, and the next command. */
export function overview(cwd: string): string {
  const [state, ...next] = situation(cwd);
  return [state, ...next.map((command) => `  ${command}`), '', 'All commands: ralph --help', ''].join('\n');
}

function situation(cwd: string): string[] {
  const running = runningLoop(cwd);
  if (running) {
    const since = running.since.slice(0, 16).replace('T', ' ');
    return [
      `A loop is running here: ${running.run}, since ${since}.`,
      'ralph show',
      'ralph note "..."',
      'ralph stop',
    ];
  }
  const prd = lastPrd(cwd);
  const goOn = goOnCommand(cwd, prd);
  const question = openQuestion(cwd, prd ?? undefined);
  if (question) {
    return [`The last run waits for you: ${question.text.split('\n')[0]}`, `ralph answer "..." && ${goOn}`];
  }
  const latest = listRuns(cwd).at(-1);
  if (latest !== undefined) {
    const { outcome, state, iteration } = readRun(cwd, latest).view;
    const rest = state === 'yielded' ? 'waits for its supervisor' : 'was killed';
    const last = `The last run ${outcome === null ? rest : `ended with ${outcome}`} after ${iteration} iterations.`;
    const done = prd === null ? 'ralph run -p "your next task"' : 'ralph prd archive';
    const next = outcome === 'PROMISE_ACCEPTED' ? done : goOn;
    return [last, 'ralph show', next];
  }
  if (readText(join(cwd, projectFile)) !== null) return ['No run here yet.', 'ralph run -p "your task"'];
  return ['No settings here yet.', 'ralph demo', 'ralph init'];
}

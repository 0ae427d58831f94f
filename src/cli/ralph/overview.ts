import { join } from 'node:path';
import { projectFile } from '../../config/settings-layers.ts';
import { plural } from '../../core/text.ts';
import { openQuestion } from '../../drive/human.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { nextCommand } from '../../journal/next-command.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { readText } from '../../os/files/files.ts';

/** The text of `ralph` without a command: how things stand here, and the next command. */
export function overview(cwd: string): string {
  const [state, ...next] = situation(cwd);
  return [state, ...next.map((command) => `  ${command}`), '', 'All commands: ralph --help', ''].join('\n');
}

function situation(cwd: string): string[] {
  const running = runningLoop(cwd);
  if (running) {
    const since = running.since.slice(0, 16).replace('T', ' ');
    const state = `A loop is running here: ${running.run}, since ${since}.`;
    return [state, 'ralph show', 'ralph note "..."', 'ralph stop'];
  }
  const latest = listRuns(cwd).at(-1);
  if (latest !== undefined) {
    const { view } = readRun(cwd, latest);
    const { outcome, state, iteration, tasks } = view;
    const question = openQuestion(cwd);
    if (question) {
      const next = nextCommand(view, { asks: true, isLatest: true });
      return [`The last run waits for you: ${question.text.split('\n')[0]}`, next];
    }
    const open = state === 'yielded' ? 'waits for its supervisor' : 'was killed';
    const end = outcome === null ? open : `ended with ${outcome}`;
    const next =
      outcome === 'PROMISE_ACCEPTED' && tasks === null
        ? 'ralph run -p "your next task"'
        : nextCommand(view, { asks: false, isLatest: true });
    const count = plural(iteration, 'iteration');
    return [`The last run ${end} after ${count}.`, 'ralph show', next];
  }
  if (readText(join(cwd, projectFile)) !== null) return ['No run here yet.', 'ralph run -p "your task"'];
  return ['No settings here yet.', 'ralph demo', 'ralph init'];
}

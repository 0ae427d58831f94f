import { repoWith } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { startRalph } from '../../support/ralph.ts';
import type { Repo } from '../../support/repo.ts';
import { type Case, type Driver, type End, isInterrupted, task } from '../case.ts';
import { endOfRun } from './journal.ts';
import { occupy, settingsFile } from './settings.ts';

/** `ralph run` (seed 001), which all others are compared with. */
export const run: Driver = {
  differences: [],
  lacks: { noGoal: 'seed 001: there is always a completion response' },
  async play(played) {
    const files = { 'PROMPT.md': task };
    const repo = await repoWith(played.turns, settingsFile(played.settings), { files });
    return playProcess(['run', '-f', 'PROMPT.md'], played, repo);
  },
};

/** Runs `ralph` to its end; a turn that hangs is interrupted by two Ctrl-C. */
export async function playProcess(args: readonly string[], played: Case, repo: Repo): Promise<End> {
  occupy(played.settings, repo.path);
  const running = startRalph(args, repo);
  if (isInterrupted(played)) {
    await waitUntil(() => running.output.stdout.includes('Working.'));
    running.child.kill('SIGINT');
    await waitUntil(() => running.output.stderr.includes('Received signal'));
    running.child.kill('SIGINT');
  }
  const { code } = await running.done;
  if (!repo.exists('.ralph/runs')) return { exitCode: code ?? -1 };
  return { ...endOfRun(`${repo.cwd}/.ralph/runs`), exitCode: code ?? -1 };
}

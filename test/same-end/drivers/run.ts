import { repoWith } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { type RunOptions, startRalph } from '../../support/ralph.ts';
import { type Case, type Driver, type End, task } from '../case.ts';
import { endOfRun } from './journal.ts';
import { settingsFile } from './settings.ts';

/** `ralph run` (seed 001), which all others are compared with. */
export const run: Driver = {
  differences: [],
  lacks: { noGoal: 'seed 001: there is always a completion response' },
  async play(played) {
    const repo = await repoWith(played.turns, settingsFile(played.settings));
    return playProcess(['run', '-p', task], played, repo);
  },
};

/** Runs `ralph` to its end; a turn that hangs is interrupted by two Ctrl-C. */
export async function playProcess(args: readonly string[], played: Case, repo: RunOptions): Promise<End> {
  const running = startRalph(args, repo);
  if (played.turns.some(({ steps }) => steps.some((step) => 'hang' in step))) {
    await waitUntil(() => running.output.stdout.includes('Working.'));
    running.child.kill('SIGINT');
    await waitUntil(() => running.output.stderr.includes('Received signal'));
    running.child.kill('SIGINT');
  }
  const { code } = await running.done;
  return { ...endOfRun(`${repo.cwd}/.ralph/runs`), exitCode: code ?? -1 };
}

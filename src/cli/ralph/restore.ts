import { RalphError } from '../../core/error.ts';
import { plural } from '../../core/text.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { locateRun } from '../../drive/session/session-runs.ts';
import type { RunView } from '../../journal/run-view.ts';
import { findWholeRepository } from '../../os/git/git.ts';
import { planRestore, restoreFiles } from '../../os/git/restore.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { readLocated } from './located-run.ts';
import type { restoreOptions } from './options.ts';
import { iterationOf } from './show.ts';

const listed = 10;

/** Puts the files back to an iteration of a run. The branch stays: what changes is not committed. */
export async function main(context: Context, { values, args }: Input<typeof restoreOptions>) {
  const { cwd, env, stdout } = context;
  const [name, number = ''] = args;
  requirePerson(env);
  const { view } = readLocated(cwd, locateRun(env, cwd, name));
  const commit = stateAfter(view, number);
  const top = findWholeRepository(cwd);
  const plan = top === null || commit === null ? null : await planRestore(top, commit);
  if (top === null || commit === null || plan === null)
    throw refusal(`the files of iteration ${number} are not kept`, `ralph show ${view.run}`);
  const loop = runningLoop(cwd);
  if (loop !== null) throw refusal(`a loop runs here (${loop.run})`, 'ralph stop');
  if (plan.kept.length > 0) {
    const names = cleanTerminal(plan.kept.slice(0, listed).join(', '));
    throw refusal(
      `there is work that is not committed: ${names}`,
      `git stash -u && ralph restore ${view.run} ${number}`,
    );
  }
  if (plan.changes.length === 0) {
    stdout.write(`The files are what they were after iteration ${number}.\n`);
    return 0;
  }
  const files = plural(plan.changes.length, 'file');
  if (!values.yes && !(await agrees(context, `Change ${files} to what they were after iteration ${number}?`)))
    return 1;
  const failure = await restoreFiles(top, commit, plan.changes);
  if (failure !== null) throw refusal(`git could not restore: ${cleanTerminal(failure)}`, 'git status');
  stdout.write(`${files} changed, nothing is committed. Next: git diff\n`);
}

/** Returns the snapshot at the end of an iteration, or at the start of the run for 0. */
function stateAfter(view: RunView, number: string): string | null {
  if (number === '0') return view.iterations[0]?.from ?? null;
  return iterationOf(view, number)?.to ?? null;
}

async function agrees(context: Context, question: string): Promise<boolean> {
  if (!context.stdin.isTTY || !context.stdout.isTTY)
    throw new RalphError('usage', `nobody can be asked here: ${question}`, {
      remedy: 'ralph restore RUN N --yes',
    });
  const { confirm } = await import('./talk.ts');
  return confirm(context, question);
}

function refusal(message: string, remedy: string): RalphError {
  return new RalphError('restore', message, { remedy, exitCode: 2 });
}

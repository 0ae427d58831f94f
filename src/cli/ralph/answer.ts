import { RalphError } from '../../core/error.ts';
import { keepAnswer, openQuestion } from '../../drive/human.ts';
import { goOnCommand } from '../../journal/next-command.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from './options.ts';

export function main({ cwd, env, stdout }: Context, { args }: Input<typeof noOptions>): number {
  requirePerson(env);
  const question = openQuestion(cwd);
  if (question === null) throw nothingAsked(cwd);
  keepAnswer(env, cwd, args.join(' '));
  stdout.write(`run ${question.view.run} asked: ${question.text}\n`);
  stdout.write(`the next run starts with your answer: ${goOnCommand(question.view)}\n`);
  return 0;
}

function nothingAsked(cwd: string): RalphError {
  const runs = listRuns(cwd);
  const last = runs.at(-1);
  const asker = runs.findLast((run) => readRun(cwd, run).view.needs?.kind === 'answer');
  if (last === undefined || asker === undefined)
    return new RalphError('no-question', 'no run in this folder waits for an answer', {
      remedy: last === undefined ? 'ralph run -p "your task"' : `ralph show ${last}`,
    });
  const message =
    asker === last
      ? `the question of run ${asker} is gone`
      : `no run waits for an answer: run ${asker} asked, and run ${last} began since`;
  return new RalphError('no-question', message, { remedy: goOnCommand(readRun(cwd, asker).view) });
}

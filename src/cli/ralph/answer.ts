import { goOnCommand, keepAnswer, lastPrd, openQuestion } from '../../drive/human.ts';
import { latestRun } from '../../journal/runs.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from './options.ts';

export function main({ cwd, env, stdout }: Context, { args }: Input<typeof noOptions>): number {
  requirePerson(env);
  const prd = lastPrd(cwd);
  const question = openQuestion(cwd, prd ?? undefined);
  keepAnswer(env, cwd, args.join(' '));
  if (question) stdout.write(`asked: ${question.text}\n`);
  const next = prd === null && latestRun(cwd) === null ? 'ralph run -p "your task"' : goOnCommand(cwd, prd);
  stdout.write(`the next run starts with your answer: ${next}\n`);
  return 0;
}

import { goOnCommand, keepAnswer, lastPrd, openQuestion } from '../store/human.ts';
import { latestRun } from '../store/runs.ts';
import type { answerOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main({ cwd, env, stdout }: Context, { args }: Input<typeof answerOptions>): number {
  const prd = lastPrd(cwd);
  const question = openQuestion(cwd, prd ?? undefined);
  keepAnswer(env, cwd, args.join(' '));
  if (question) stdout.write(`asked: ${question.text}\n`);
  const next = prd === null && latestRun(cwd) === null ? 'ralph run -p "your task"' : goOnCommand(cwd, prd);
  stdout.write(`the next run starts with your answer: ${next}\n`);
  return 0;
}

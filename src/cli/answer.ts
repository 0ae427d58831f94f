import { goOnCommand, keepAnswer, lastPrd, openQuestion } from '../store/human.ts';
import type { answerOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main({ cwd, env, stdout }: Context, { args }: Input<typeof answerOptions>): number {
  const prd = lastPrd(cwd);
  const question = openQuestion(cwd, prd ?? undefined);
  keepAnswer(env, cwd, args.join(' '));
  if (question) stdout.write(`asked: ${question.text}\n`);
  stdout.write(`the next run starts with your answer: ${goOnCommand(cwd, prd)}\n`);
  return 0;
}

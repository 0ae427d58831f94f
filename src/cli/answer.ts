import { keepAnswer, openQuestion } from '../store/human.ts';
import type { answerOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main({ cwd, env, stdout }: Context, { args }: Input<typeof answerOptions>): number {
  const question = openQuestion(cwd);
  keepAnswer(env, cwd, args.join(' '));
  if (question) stdout.write(`asked: ${question.text}\n`);
  stdout.write('the next run starts with your answer: ralph run --resume\n');
  return 0;
}

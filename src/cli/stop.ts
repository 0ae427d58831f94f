import { RalphError } from '../core/error.ts';
import { postStop } from '../store/mailbox.ts';
import { loopHere } from './note.ts';
import type { stopOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values }: Input<typeof stopOptions>): number {
  const { run } = loopHere(context);
  if (context.env.RALPH_RUN_ID === run) {
    throw new RalphError('own-loop', 'this is the loop that you work in: it ends when its task is done', {
      remedy: 'finish the task, or write <promise>BLOCKED: why</promise>',
    });
  }
  postStop(context.env, run, values.now ? 'now' : 'iteration');
  context.stdout.write(values.now ? `run ${run} stops now\n` : `run ${run} stops after this iteration\n`);
  return 0;
}

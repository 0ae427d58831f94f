import { locateRun } from '../../drive/session/session-runs.ts';
import { createStyle } from '../../show/terminal/style.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { watchOptions } from './options.ts';
import { watchScreen } from './watch-screen.ts';
import { watchText } from './watch-text.ts';

/** Shows a run while it goes on: a full screen in a terminal, its story as text elsewhere. */
export async function main(context: Context, { values, args }: Input<typeof watchOptions>): Promise<number> {
  const { stdin, stdout, env, cwd } = context;
  const isTerminal = stdin.isTTY === true && stdout.isTTY && env.TERM !== 'dumb';
  const style = createStyle({ env, isTTY: stdout.isTTY });
  const run = locateRun(env, cwd, args[0]);
  if (values.plain || !isTerminal) return watchText(context, run, style);
  return watchScreen(context, run, style, { followsNewer: args[0] === undefined });
}

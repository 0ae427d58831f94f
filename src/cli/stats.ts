import { listLocated, locateRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { statsOf } from '../view/stats.ts';
import { statsText } from '../view/stats-text.ts';
import { createStyle } from '../view/style.ts';
import { readLocated } from './located-run.ts';
import type { statsOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values, args }: Input<typeof statsOptions>): number {
  const { cwd, env, stdout } = context;
  const runs = values.all ? listLocated(env, cwd) : [locateRun(env, cwd, args[0])];
  const views = runs.map((run) => readLocated(cwd, run).view);
  const stats = statsOf(views, systemClock.now());
  const style = createStyle({ env, isTTY: stdout.isTTY });
  stdout.write(values.json ? `${JSON.stringify(stats, null, 2)}\n` : statsText(stats, style));
  return 0;
}

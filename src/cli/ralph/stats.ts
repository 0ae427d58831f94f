import { listLocated, locateRun } from '../../drive/session/session-runs.ts';
import { systemClock } from '../../os/clock.ts';
import { figuresCsv, runFigures } from '../../show/stats/figures.ts';
import { statsOf } from '../../show/stats/stats.ts';
import { statsText } from '../../show/stats/stats-text.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { readLocated } from './located-run.ts';
import type { statsOptions } from './options.ts';

export function main(context: Context, { values, args }: Input<typeof statsOptions>): void {
  const { cwd, env, stdout } = context;
  const runs = values.all ? listLocated(env, cwd) : [locateRun(env, cwd, args[0])];
  const views = runs.map((run) => readLocated(cwd, run).view);
  const now = systemClock.now();
  if (values.csv) stdout.write(figuresCsv(views.map((view) => runFigures(view.run, view, now))));
  else if (values.json) writeJson(context, statsOf(views, now));
  else stdout.write(statsText(statsOf(views, now), styleOf(context)));
}

import { runningLoop } from '../loop/ownership.ts';
import { foldEvents } from '../store/fold-events.ts';
import { readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { listRuns } from '../store/runs.ts';
import { listSessionRuns, locateRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { type RunHistory, statsOf } from '../view/stats.ts';
import { statsText } from '../view/stats-text.ts';
import { createStyle } from '../view/style.ts';
import type { statsOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values, args }: Input<typeof statsOptions>): number {
  const { env, stdout } = context;
  const runs = values.all ? allRuns(context) : [locateRun(env, context.cwd, args[0])];
  const running = goingOn(context);
  const stats = statsOf(
    runs.map((run) => readHistory(run, running)),
    systemClock.now(),
  );
  const style = createStyle({ env, isTTY: stdout.isTTY });
  stdout.write(values.json ? `${JSON.stringify(stats, null, 2)}\n` : statsText(stats, style));
  return 0;
}

type Source = { readonly run: string; readonly journal: string };

/** Those of this folder, and the loops inside sessions that were started in it. */
function allRuns({ env, cwd }: Context): Source[] {
  const own = listRuns(cwd).map((run) => ({ run, journal: runPaths(cwd, run).journal }));
  return [...own, ...listSessionRuns(env, cwd)];
}

/** Those that somebody drives at this moment. */
function goingOn({ env, cwd }: Context): ReadonlySet<string> {
  const inSessions = listSessionRuns(env, cwd).filter(({ status }) => status !== 'ended');
  return new Set([runningLoop(cwd)?.run ?? '', ...inSessions.map(({ run }) => run)]);
}

function readHistory({ run, journal }: Source, running: ReadonlySet<string>): RunHistory {
  const { events } = readJournal(journal);
  const view = foldEvents(run, events);
  return { events, view, ...(running.has(run) ? {} : { until: view.updatedAt ?? 0 }) };
}

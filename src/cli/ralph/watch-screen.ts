import { join } from 'node:path';
import { type LocatedRun, locateRun } from '../../drive/session/session-runs.ts';
import type { IterationView } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailLines } from '../../os/files/tail-lines.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from '../../show/terminal/style.ts';
import { press, startState, type WatchState } from '../../show/watch/keys.ts';
import { layoutWatch, type WatchView } from '../../show/watch/layout.ts';
import { runFullScreen } from '../kernel/full-screen.ts';
import type { Context } from '../kernel/spec.ts';
import { type WatchedRun, watchRun } from './watched-run.ts';

const pollMs = 250;
const logBytes = 64 * 1024;

/** Shows a run on the full screen until somebody quits. */
export async function watchScreen(
  context: Context,
  first: LocatedRun,
  style: Style,
  { followsNewer }: { followsNewer: boolean },
): Promise<number> {
  let watched = watchRun(context, first, style);
  let state: WatchState = startState;
  let isAlive = true;

  const look = (): void => {
    isAlive = watched.isAlive();
    watched.read();
    const newer = followsNewer && !isAlive ? locateRun(context.env, context.cwd) : null;
    if (newer === null || newer.run === watched.located.run) return;
    watched = watchRun(context, newer, style);
    state = startState;
    watched.read();
  };
  return runFullScreen(context, {
    pollMs,
    look,
    lines: (size) =>
      layoutWatch(viewOf(context, watched, state, isAlive), { style, ...size, now: systemClock.now() }),
    key(key, control) {
      state = press(state, key, watched.loop.iterations.length);
      if (state.quit) control.end(0);
    },
  });
}

function viewOf(context: Context, watched: WatchedRun, state: WatchState, isAlive: boolean): WatchView {
  const { loop } = watched;
  const newest = loop.iterations.length - 1;
  const one = loop.iterations[state.selected ?? newest];
  const live = one === undefined || one.index === newest ? watched.output() : '';
  return {
    loop,
    state,
    isAlive,
    live: watched.figures(),
    output: live === '' ? cleanTerminal(one?.text ?? '') : live,
    log: state.pane === 'log' && one !== undefined ? readLog(context, one) : null,
  };
}

/** Reads the log of the check that failed, or of the last one. */
function readLog({ cwd }: Context, one: IterationView): WatchView['log'] {
  const checks = [...one.guardrails, ...one.verify].filter(({ log }) => log !== null);
  const check = checks.find(({ ok }) => ok === false) ?? checks.at(-1);
  if (check === undefined || check.log === null) return null;
  const { lines } = tailLines(join(cwd, check.log), { lastBytes: logBytes }).read();
  return { title: check.command, text: cleanTerminal(lines.map((line) => line.toString('utf8')).join('\n')) };
}

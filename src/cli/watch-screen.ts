import { join } from 'node:path';
import { cleanTerminal } from '../safety/terminal.ts';
import { type LocatedRun, locateRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { tailLines } from '../system/tail-lines.ts';
import type { IterationPicture } from '../view/picture.ts';
import type { Style } from '../view/style.ts';
import { keysIn, press, startState, type WatchState } from '../view/watch/keys.ts';
import { layoutWatch, type WatchView } from '../view/watch/layout.ts';
import { createScreen } from '../view/watch/screen.ts';
import type { Context } from './spec.ts';
import { type WatchedRun, watchRun } from './watched-run.ts';

const pollMs = 250;
const logBytes = 64 * 1024;

/** The full screen, until somebody quits. The terminal is given back on every way out. */
export async function watchScreen(
  context: Context,
  first: LocatedRun,
  style: Style,
  { followsNewer }: { followsNewer: boolean },
): Promise<number> {
  const { stdin, stdout } = context;
  const screen = createScreen(stdout);
  let watched = watchRun(context, first, style);
  let state: WatchState = startState;
  let isAlive = true;

  const draw = (): void => {
    const { columns = 80, rows = 24 } = stdout;
    const view = viewOf(context, watched, state, isAlive);
    screen.draw(layoutWatch(view, { style, columns, rows, now: systemClock.now() }));
  };
  const look = (): void => {
    isAlive = watched.isAlive();
    watched.read();
    const newer = followsNewer && !isAlive ? latestRun(context) : null;
    if (newer === null || newer.run === watched.located.run) return;
    watched = watchRun(context, newer, style);
    state = startState;
    watched.read();
  };

  return new Promise((resolve, reject) => {
    const end = (code: number): void => {
      clearInterval(timer);
      stdin.off('data', onKeys).pause();
      stdout.off('resize', onResize);
      for (const [signal, handler] of handlers) process.off(signal, handler);
      process.off('exit', leave);
      leave();
      resolve(code);
    };
    const safely = (work: () => void) => (): void => {
      try {
        work();
      } catch (error) {
        end(70);
        reject(error);
      }
    };
    const leave = (): void => {
      stdin.setRawMode(false);
      screen.leave();
    };
    const enter = (): void => {
      stdin.setRawMode(true);
      screen.enter();
      draw();
    };
    const onResize = safely(() => {
      screen.forget();
      draw();
    });
    const onKeys = (input: string): void => {
      const keys = keysIn(input);
      if (keys.includes('\x1a')) {
        suspend(leave);
        return;
      }
      for (const key of keys) state = press(state, key, watched.picture.iterations.length);
      if (state.quit) end(0);
      else safely(draw)();
    };
    const handlers: [NodeJS.Signals, () => void][] = [
      ['SIGINT', () => end(130)],
      ['SIGTERM', () => end(143)],
      ['SIGHUP', () => end(129)],
      ['SIGQUIT', () => end(131)],
      ['SIGCONT', safely(enter)],
    ];
    const timer = setInterval(
      safely(() => {
        look();
        draw();
      }),
      pollMs,
    );
    process.on('exit', leave);
    for (const [signal, handler] of handlers) process.on(signal, handler);
    stdout.on('resize', onResize);
    stdin.setEncoding('utf8').on('data', onKeys).resume();
    safely(() => {
      look();
      enter();
    })();
  });
}

/** Ctrl-Z: the shell gets its terminal back; SIGCONT brings the screen back. */
function suspend(leave: () => void): void {
  leave();
  process.kill(process.pid, 'SIGTSTP');
}

function latestRun({ env, cwd }: Context): LocatedRun {
  return locateRun(env, cwd);
}

function viewOf(context: Context, watched: WatchedRun, state: WatchState, isAlive: boolean): WatchView {
  const { picture } = watched;
  const newest = picture.iterations.length - 1;
  const one = picture.iterations[state.selected ?? newest];
  const live = one === undefined || one.index === newest ? watched.output() : '';
  return {
    picture,
    state,
    isAlive,
    live: watched.figures(),
    output: live === '' ? cleanTerminal(one?.text ?? '') : live,
    log: state.pane === 'log' && one !== undefined ? readLog(context, one) : null,
  };
}

/** The log of the check that failed, or of the last one. */
function readLog({ cwd }: Context, one: IterationPicture): WatchView['log'] {
  const checks = [...one.guardrails, ...one.verify].filter(({ log }) => log !== null);
  const check = checks.find(({ ok }) => ok === false) ?? checks.at(-1);
  if (check === undefined || check.log === null) return null;
  const { lines } = tailLines(join(cwd, check.log), { lastBytes: logBytes }).read();
  return { title: check.command, text: cleanTerminal(lines.map((line) => line.toString('utf8')).join('\n')) };
}

import { join } from 'node:path';
import { type LocatedRun, locateRun } from '../../drive/session/session-runs.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { goOnCommand } from '../../journal/next-command.ts';
import { type IterationView, skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailLines } from '../../os/files/tail-lines.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { toolStartLine } from '../../show/terminal/event-lines.ts';
import { firstLine, narrate } from '../../show/terminal/narrate.ts';
import type { Style } from '../../show/terminal/style.ts';
import { press, startState, type WatchState } from '../../show/watch/keys.ts';
import { layoutWatch, type WatchView } from '../../show/watch/layout.ts';
import { runFullScreen } from '../kernel/full-screen.ts';
import { isInteractive, styleOf } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { watchOptions } from './options.ts';
import { type WatchedRun, watchRun } from './watched-run.ts';

const textMs = 500;
const screenMs = 250;
const logBytes = 64 * 1024;

/** Shows a run while it goes on: a full screen in a terminal, its story as text elsewhere. */
export async function main(context: Context, { values, args }: Input<typeof watchOptions>) {
  const style = styleOf(context);
  const run = locateRun(context.env, context.cwd, args[0]);
  if (values.plain || !isInteractive(context)) return watchText(context, run, style);
  return watchScreen(context, run, style, args[0] === undefined);
}

async function watchText(context: Context, run: LocatedRun, style: Style): Promise<void> {
  const watched = watchRun(context, run, style);
  context.stdout.write(`${style.bold(`Run ${run.run}`)}\n`);
  let warning: string | null = null;
  for (;;) {
    // Before reading, so that what the process wrote before its end is read, too.
    const isAlive = watched.isAlive();
    const events = watched.read();
    const skipped = skippedText(watched.loop);
    const lines = events.flatMap((event) => story(event, style));
    if (skipped !== null && skipped !== warning) lines.unshift(style.yellow(skipped));
    warning = skipped;
    if (lines.length > 0) context.stdout.write(`${lines.join('\n')}\n`);
    const { state } = watched.loop;
    if (state === 'ended' || state === 'abandoned') return;
    if (!isAlive && state !== 'yielded') {
      context.stdout.write(`The process of this loop is gone. Next: ${goOnCommand(watched.loop)}\n`);
      return;
    }
    await systemClock.sleep(textMs);
  }
}

function story(event: JournalEvent, style: Style): string[] {
  if (event.type === 'tool.started')
    return [toolStartLine(style, firstLine(event.name), firstLine(event.summary))];
  return narrate(event, style);
}

function watchScreen(context: Context, first: LocatedRun, style: Style, followsNewer: boolean) {
  let watched = watchRun(context, first, style);
  let state: WatchState = startState;
  let isAlive = true;

  const look = (): void => {
    isAlive = watched.isAlive();
    watched.read();
    const newer = followsNewer && !isAlive ? locateRun(context.env, context.cwd) : null;
    if (newer === null || newer.run === watched.run) return;
    watched = watchRun(context, newer, style);
    state = startState;
    watched.read();
  };
  return runFullScreen(context, {
    pollMs: screenMs,
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

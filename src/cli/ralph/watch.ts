import { type LocatedRun, locateRun } from '../../drive/session/session-runs.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { goOnCommand } from '../../journal/next-command.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { toolStartLine } from '../../show/terminal/event-lines.ts';
import { firstLine, narrate } from '../../show/terminal/narrate.ts';
import type { Style } from '../../show/terminal/style.ts';
import { isInteractive, styleOf } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { watchOptions } from './options.ts';
import { watchScreen } from './watch-screen.ts';
import { watchRun } from './watched-run.ts';

const pollMs = 500;

/** Shows a run while it goes on: a full screen in a terminal, its story as text elsewhere. */
export async function main(context: Context, { values, args }: Input<typeof watchOptions>): Promise<number> {
  const style = styleOf(context);
  const run = locateRun(context.env, context.cwd, args[0]);
  if (values.plain || !isInteractive(context)) return watchText(context, run, style);
  return watchScreen(context, run, style, { followsNewer: args[0] === undefined });
}

/** Prints the story of a run, line by line, until it is over. */
async function watchText(context: Context, run: LocatedRun, style: Style): Promise<number> {
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
    if (state === 'ended' || state === 'abandoned') return 0;
    if (!isAlive && state !== 'yielded') {
      context.stdout.write(`The process of this loop is gone. Next: ${goOnCommand(watched.loop)}\n`);
      return 0;
    }
    await systemClock.sleep(pollMs);
  }
}

function story(event: JournalEvent, style: Style): string[] {
  if (event.type === 'tool.started')
    return [toolStartLine(style, firstLine(event.name), firstLine(event.summary))];
  return narrate(event, style);
}

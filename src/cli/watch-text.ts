import type { JournalEvent } from '../store/events.ts';
import { skippedText } from '../store/run-view.ts';
import type { LocatedRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { toolStartLine } from '../view/event-lines.ts';
import { firstLine, narrate } from '../view/narrate.ts';
import type { Style } from '../view/style.ts';
import type { Context } from './spec.ts';
import { watchRun } from './watched-run.ts';

const pollMs = 500;

/** The story of a run, line by line, until it is over. */
export async function watchText(context: Context, run: LocatedRun, style: Style): Promise<number> {
  const watched = watchRun(context, run, style);
  context.stdout.write(`${style.bold(`Run ${run.run}`)}\n`);
  let warning: string | null = null;
  for (;;) {
    // Asked first: what was written before the process ended is then read.
    const isAlive = watched.isAlive();
    const events = watched.read();
    const skipped = skippedText(watched.loop);
    const lines = events.flatMap((event) => story(event, style));
    if (skipped !== null && skipped !== warning) lines.unshift(style.yellow(skipped));
    warning = skipped;
    if (lines.length > 0) context.stdout.write(`${lines.join('\n')}\n`);
    const { state } = watched.loop;
    if (state === 'ended' || state === 'failed' || state === 'abandoned') return 0;
    if (!isAlive && state !== 'yielded') {
      context.stdout.write('The process of this loop is gone. Next: ralph run --resume\n');
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

import type { FleetEvent } from '../../fleet/files/events.ts';
import { showTime } from '../../fleet/files/time.ts';
import { stateText, whyNow } from '../../fleet/why.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { History } from './fleet.ts';
import type { whyOptions } from './options.ts';
import { withFleet } from './with-fleet.ts';

/** Shows what a worker is doing, and its timeline. */
export function main(context: Context, { values, args }: Input<typeof whyOptions>): Promise<number> {
  return withFleet(context, values, async (fleet) => {
    const member = await fleet.need(args[0]);
    const { name, loop } = member;
    const { why, hints } = await fleet.explain(member);
    const history = await fleet.history(name);
    const { events: all, ...timeline } = history.timeline;
    const events = all.slice(-(values.lines ?? 50));
    if (values.format === 'json') {
      const skipped = { timeline, ...(history.journal === null ? {} : { journal: history.journal }) };
      return writeJson(context, { name, host: loop?.host, why, events, skipped });
    }
    const count = loop === null ? '' : `, iteration ${loop.iteration}/${loop.settings.max_iterations}`;
    const lines = [
      `${name}: ${whyNow(why, systemClock.now())}${count}${loop?.host ? `, on ${loop.host}` : ''}`,
      ...[...hints, ...skippedTexts(history)].map((text) => `  ${text}`),
      ...(events.length === 0 ? [] : ['', ...events.map(eventText)]),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

/** One sentence for each file with lines that were skipped. */
export function skippedTexts({ timeline, journal }: History): string[] {
  const texts = [skippedText({ ...timeline, source: 'timeline' }), journal && skippedText(journal)];
  return texts.flatMap((text) => text ?? []);
}

function eventText({ at, type, text }: FleetEvent): string {
  const line = type === 'screen' ? stateText(text) : text;
  return `${showTime(at)}  ${line.replace(/\s+/g, ' ')}`;
}

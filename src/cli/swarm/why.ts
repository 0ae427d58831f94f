import type { FleetEvent } from '../../fleet/files/events.ts';
import { type LoopRecord, needsYou } from '../../fleet/files/loops.ts';
import { ago, showTime } from '../../fleet/files/time.ts';
import { stateText, stateWord, whyNow, whyText } from '../../fleet/why.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { History, Member } from './fleet.ts';
import { withFleet } from './local-fleet.ts';
import type { clusterOptions, whyOptions } from './options.ts';

/** Shows what a worker is doing, and its timeline. */
export function main(context: Context, { values, args }: Input<typeof whyOptions>): Promise<void> {
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

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 if there is none. */
export function status(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withFleet(context, values, async (fleet) => {
    const member = await fleet.need(args[0], 2);
    const { name, running, loop, place } = member;
    const details = [...(loop === null ? [] : loopDetails(loop)), ...place, ...timeDetails(member)].join(
      ', ',
    );
    context.stdout.write(cleanTerminal(`${name}: ${running ? 'running' : 'stopped'} (${details})\n`));
    return running ? 0 : 1;
  });
}

/** How long it has been running or, if it is over and somebody wrote that down, how long it ran. */
function timeDetails({ running, loop, startedAt }: Member): string[] {
  if (running) return [`uptime ${ago(systemClock.now() - startedAt)}`];
  return loop === null ? [] : [`ran ${ago(loop.why.since - startedAt)}`];
}

/** How far a loop is, and how it ended or what it asks: `not done, iteration 3/3`. */
function loopDetails({ why, end, status, iteration, settings }: LoopRecord): string[] {
  const asks = needsYou(why.state) ? [whyText(why, systemClock.now())] : [];
  const isTold = asks.length > 0 || (end === null && status !== 'paused');
  const word = isTold ? asks : [stateWord(why.state)];
  return [...word, `iteration ${iteration}/${settings.max_iterations}`];
}

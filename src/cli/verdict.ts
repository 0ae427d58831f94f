import { type Judgement, type Rejudged, rejudge } from '../loop/rejudge.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readJournal } from '../store/journal.ts';
import { recordOf } from '../store/runs.ts';
import { locateRun } from '../store/session-runs.ts';
import { keptText } from '../store/turn-events.ts';
import { createStyle, type Style } from '../view/style.ts';
import { verdictTable } from '../view/verdict-table.ts';
import type { verdictOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export async function main(
  context: Context,
  { values, args }: Input<typeof verdictOptions>,
): Promise<number> {
  const { cwd, env, stdout, stderr } = context;
  const { run, journal, session } = locateRun(env, cwd, args[0]);
  const { events, damaged } = readJournal(journal);
  if (damaged > 0) stderr.write(`warning: lines of the journal that cannot be read: ${damaged}\n`);
  const rejudged = await rejudge(cwd, run, events, session === null ? null : keptText);
  const same = rejudged.every(({ now }) => now?.same !== false);
  if (values.json) {
    stdout.write(`${JSON.stringify({ run, verdicts: rejudged.flatMap(toJson), same }, null, 2)}\n`);
  } else {
    const style = createStyle({ env, isTTY: stdout.isTTY });
    const { verdicts } = recordOf(run, events);
    stdout.write(`${verdictTable(verdicts, style)}\n${comparison(rejudged, style)}`);
  }
  return same ? 0 : 1;
}

function toJson({ iteration, recorded, now }: Rejudged) {
  if (recorded === null) return [];
  const rejudged = now && { accepted: now.accepted, because: now.because, same: now.same };
  return [{ iteration, ...recorded, rejudged }];
}

function comparison(rejudged: readonly Rejudged[], style: Style): string {
  const rows = rejudged.map((item) => `${String(item.iteration).padEnd(9)}  ${compare(item, style)}`);
  return `${[style.bold('Iteration  Judged again'), ...rows].join('\n')}\n`;
}

function compare({ recorded, now }: Rejudged, style: Style): string {
  if (recorded === null) return 'not judged: the run did not get that far';
  if (now === null) return style.yellow("cannot be judged again: the agent's stream is missing");
  if (!now.same) return style.red(`DIFFERENT: was ${say(recorded)}, would now be ${say(now)}`);
  return recorded.claim === 'none' ? 'same (no claim)' : 'same';
}

function say({ claim, accepted, because }: Judgement): string {
  const why = cleanTerminal(because).replace(/\s+/g, ' ').slice(0, 200);
  switch (claim) {
    case 'done':
      return `${accepted ? 'accepted' : 'rejected'} (${why})`;
    case 'blocked':
      return `blocked (${why})`;
    case 'decide':
      return `a question (${why})`;
    case 'none':
      return 'no claim';
  }
}

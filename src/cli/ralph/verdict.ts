import { type Judgement, type Rejudged, rejudge } from '../../drive/process/rejudge.ts';
import { locateRun } from '../../drive/session/session-runs.ts';
import { recordOf } from '../../journal/run-record.ts';
import { skippedText } from '../../journal/run-view.ts';
import { keptText } from '../../journal/turn-events.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from '../../show/terminal/style.ts';
import { verdictTable } from '../../show/terminal/verdict-table.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { readLocated } from './located-run.ts';
import type { jsonOptions } from './options.ts';

export async function main(context: Context, { values, args }: Input<typeof jsonOptions>): Promise<number> {
  const { cwd, env, stdout, stderr } = context;
  const located = locateRun(env, cwd, args[0]);
  const { view, events } = readLocated(cwd, located);
  const { run, outcome, verdicts, damaged, unknown } = recordOf(view);
  const skipped = skippedText(view);
  if (skipped !== null) stderr.write(`warning: ${skipped}\n`);
  const rejudged = rejudge(cwd, run, events, located.session === null ? null : keptText);
  const same = rejudged.every(({ now }) => now?.same !== false);
  const style = styleOf(context);
  if (values.json)
    writeJson(context, { run, outcome, verdicts: rejudged.flatMap(toJson), same, damaged, unknown });
  else stdout.write(`${verdictTable(verdicts, style)}\n${comparison(rejudged, style)}`);
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

import { formatDuration } from '../../core/duration.ts';
import { plural } from '../../core/text.ts';
import { skippedText } from '../../journal/run-view.ts';
import { factLines } from '../terminal/facts.ts';
import { firstLine } from '../terminal/narrate.ts';
import { tokensText } from '../terminal/status-line.ts';
import type { Style } from '../terminal/style.ts';
import { costText, formatCost } from '../terminal/units.ts';
import type { Stats } from './stats.ts';

export function statsText(stats: Stats, style: Style): string {
  const { usage, claims, reviews } = stats;
  const cost = costText(usage);
  const each = stats.costPerAcceptedTask;
  const rows: [string, string][] = [
    ['Runs', `${stats.runs} (${counts(stats.outcomes)})`],
    ['Accepted', plural(stats.acceptedTasks, 'task')],
    ['Iterations', `${stats.iterations}, ${stats.toolCalls} tool calls`],
    ['Cost', each === null ? cost : `${cost}, ${formatCost(each)} for each accepted task`],
    ['Tokens', tokensText(usage, style)],
    ['Time', timeText(stats)],
    ['Claims', `${claims.accepted} accepted, ${claims.rejected} rejected`],
    ...Object.entries(stats.rejectedBy).map(([check, count]): [string, string] => [
      '',
      `${count} by ${firstLine(check)}`,
    ]),
    [
      'Reviews',
      reviews.perStory === null
        ? ''
        : `${reviews.reviews} in ${plural(reviews.stories, 'story', 'stories')}, ${reviews.perStory.toFixed(1)} each`,
    ],
    ...stats.guardrails.map(({ command, passed, failed, ms }, index): [string, string] => {
      const average = formatDuration(ms / Math.max(1, passed + failed));
      const result = `${style.green(`${passed} passed`)}, ${failed === 0 ? '0 failed' : style.red(`${failed} failed`)}`;
      return [index === 0 ? 'Guardrails' : '', `${firstLine(command)}: ${result}, ${average} on average`];
    }),
    ['Skipped', skippedText(stats) ?? ''],
  ];
  return factLines(rows, style);
}

function counts(outcomes: Stats['outcomes']): string {
  return Object.entries(outcomes)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', ');
}

/** `1h2m: agent 80%, checks 12%, waiting 8%` */
function timeText({ time, elapsedMs }: Stats): string {
  if (elapsedMs === 0) return '';
  const shares = Object.entries(time)
    .filter(([, ms]) => ms > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, ms]) => `${kind} ${Math.round((ms / elapsedMs) * 100)}%`);
  return `${formatDuration(elapsedMs)}: ${shares.join(', ')}`;
}

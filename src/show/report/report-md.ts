import { formatDuration } from '../../core/duration.ts';
import { outcomeWithCause } from '../../core/limit-words.ts';
import { plainLine } from '../../core/notice.ts';
import {
  elapsedAt,
  type IterationView,
  type RunView,
  skippedText,
  timeByKind,
} from '../../journal/run-view.ts';
import { costText, usageText } from '../terminal/units.ts';

/**
 * A run as Markdown, for a pull request: how it ended, every claim with its evidence, and each iteration. Texts of the
 * agent stand in code spans, where neither markup nor names mean anything.
 */
export function reportMarkdown(view: RunView, now: number): string {
  const { outcome, because, becauseCode, stories } = view;
  const parts = [
    `## ralph: ${outcome === null ? 'not ended' : outcomeWithCause(outcome, becauseCode)}`,
    because === null ? '' : code(because, 500),
    table(['', ''], summary(view, now)),
    stories.length === 0 ? '' : '### Stories',
    stories.length === 0 ? '' : table(['Story', 'Title', 'Done', 'Reviews'], storyRows(view)),
    '### Claims',
    claimRows(view).length === 0
      ? 'No claim was made.'
      : table(['Iteration', 'Verdict', 'Check', 'Evidence'], claimRows(view)),
    '### Iterations',
    table(['', 'Result', 'Time', 'Cost', 'Tools', 'Files', 'Guardrails', 'Why'], iterationRows(view, now)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function summary(view: RunView, now: number): string[][] {
  const { usage, limits, claims } = view;
  const most = limits?.iterations == null ? '' : ` of ${limits.iterations}`;
  const rows = [
    ['Run', code(view.run, 80)],
    ['Task', code(view.task, 200)],
    ['Agent', code(`${view.agent ?? 'unknown'} ${view.agentVersion ?? ''}`, 80)],
    ['Iterations', `${view.iteration}${most}`],
    ['Time', formatDuration(elapsedAt(view, now))],
    ['Cost', costText(usage)],
    ['Tokens', usageText(usage)],
    ['Claims', `${claims.accepted} accepted, ${claims.rejected} rejected`],
    ['Skipped', skippedText(view) ?? ''],
  ];
  return rows.filter(([, value]) => value !== '');
}

function storyRows({ stories }: RunView): string[][] {
  return stories.map(({ id, title, passes, reviewCount }) => [
    code(id, 40),
    code(title, 120),
    passes ? '✅' : '',
    String(reviewCount),
  ]);
}

function claimRows({ iterations }: RunView): string[][] {
  return iterations.flatMap(({ iteration, verdict }) =>
    (verdict?.evidence ?? []).map(({ check, ok, detail, warning }, index) => [
      index === 0 ? String(iteration) : '',
      index === 0 ? (verdict?.accepted ? 'accepted' : '**rejected**') : '',
      code(check, 100),
      `${warning ? '⚠️' : ok ? '✅' : '❌'} ${code(detail, 200)}`,
    ]),
  );
}

function iterationRows({ iterations }: RunView, now: number): string[][] {
  return iterations.map((one) => [
    String(one.iteration),
    one.mark.replace('-', ' '),
    formatDuration(Object.values(timeByKind(one, now)).reduce((sum, ms) => sum + ms, 0)),
    one.usage === null ? '' : costText(one.usage),
    one.toolCalls === null ? '' : String(one.toolCalls),
    String(one.filesChanged),
    one.guardrails.map(({ ok }) => (ok === null ? '·' : ok ? '✅' : '❌')).join(''),
    code(whyOf(one), 200),
  ]);
}

function whyOf({ verdict, decision, error }: IterationView): string {
  return verdict?.because ?? error ?? decision?.because.text ?? '';
}

/** A text as code on one line, with a fence longer than any in it. */
function code(text: string, max: number): string {
  const line = plainLine(text, max);
  if (line === '') return '';
  const fence = '`'.repeat(Math.max(0, ...Array.from(line.matchAll(/`+/g), ([run]) => run.length)) + 1);
  const inner = line.startsWith('`') || line.endsWith('`') ? ` ${line} ` : line;
  return `${fence}${inner}${fence}`;
}

/** A bar ends a cell even inside code, unless it is escaped. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

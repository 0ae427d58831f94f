import { plural } from '../../core/text.ts';
import { goOnCommand, nextCommand } from '../../journal/next-command.ts';
import { type IterationView, type Mark, type RunView, timeByKind } from '../../journal/run-view.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { firstLine } from '../terminal/narrate.ts';
import { checkMark } from '../terminal/status-line.ts';
import type { Style } from '../terminal/style.ts';
import { clockTime, costText, formatSeconds } from '../terminal/units.ts';
import { fitTo, wrapTo } from '../terminal/width.ts';

export type PaneOptions = {
  readonly style: Style;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
};

const marks: Record<Mark, readonly [loop: string, ascii: string]> = {
  running: ['▶', '>'],
  accepted: ['✓', '+'],
  rejected: ['✗', 'x'],
  'failed-checks': ['✗', 'x'],
  'went-on': ['·', '.'],
  'usage-limit': ['‖', '~'],
  overload: ['≈', '%'],
  'context-full': ['≡', '='],
  login: ['@', '@'],
  'no-credit': ['$', '$'],
  failed: ['!', '!'],
  'needs-person': ['?', '?'],
  stopped: ['■', 's'],
  cut: ['×', 'c'],
};

/** Returns one line per iteration: its result, what its time was spent on, its cost, and why the loop went on. */
export function timelinePane(loop: RunView, selected: number, options: PaneOptions): string[] {
  const { style, columns, rows, now } = options;
  const { iterations } = loop;
  const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), iterations.length - rows));
  const longest = Math.max(1, ...iterations.map((one) => sum(timeByKind(one, now))));
  const barWidth = Math.min(30, Math.max(8, Math.floor(columns / 5)));
  return iterations.slice(first, first + rows).map((one) => {
    const time = formatSeconds(sum(timeByKind(one, now)));
    const cost = one.usage === null ? '' : costText(one.usage);
    return [
      one.index === selected ? style.bold('>') : ' ',
      String(one.iteration).padStart(3),
      markOf(one.mark, style),
      fitTo(timeBar(one, longest, barWidth, options), barWidth),
      time.padStart(7),
      cost.padStart(12),
      '',
      noteOf(one, loop, style),
    ].join(' ');
  });
}

function markOf(mark: Mark, style: Style): string {
  const symbol = marks[mark][style.emoji ? 0 : 1];
  if (mark === 'accepted') return style.green(symbol);
  if (mark === 'running') return style.cyan(symbol);
  if (mark === 'rejected' || mark === 'failed-checks' || mark === 'failed') return style.red(symbol);
  if (mark === 'went-on' || mark === 'stopped' || mark === 'cut') return style.dim(symbol);
  return style.yellow(symbol);
}

export const barParts = [
  ['agent', '█', '#'],
  ['review', '▒', '%'],
  ['checks', '▓', '='],
  ['other', '─', '-'],
  ['waiting', '░', '.'],
] as const;

function timeBar(one: IterationView, longest: number, width: number, { style, now }: PaneOptions): string {
  const times = timeByKind(one, now);
  let out = '';
  let before = 0;
  let length = 0;
  for (const [kind, sign, ascii] of barParts) {
    before += times[kind];
    const upTo = Math.min(width, Math.round((before / longest) * width));
    const part = (style.emoji ? sign : ascii).repeat(Math.max(0, upTo - length));
    out += kind === 'checks' ? style.yellow(part) : kind === 'agent' ? style.cyan(part) : style.dim(part);
    length = Math.max(length, upTo);
  }
  return out;
}

function noteOf(one: IterationView, loop: RunView, style: Style): string {
  const story = one.prd ? `${one.prd.mode} ${firstLine(one.prd.story ?? '')} ` : '';
  if (one.mark === 'running') return `${story}running`;
  if (one.verdict?.accepted) return style.green(`${story}accepted`);
  if (one.verdict !== null) return `${story}rejected: ${firstLine(one.verdict.because)}`;
  if (one.mark === 'cut') return `${story}cut off`;
  const because = one.decision?.because.text ?? loop.because ?? '';
  return `${story}${firstLine(because)}`;
}

/** Says what goes on now, or how the loop ended and what to do about it. */
export function nowPane(loop: RunView, isAlive: boolean, options: PaneOptions): string[] {
  const { style, columns, rows, now } = options;
  const lines = nowLines(loop, isAlive, style, now).flatMap((line) => wrapTo(line, columns));
  return lines.slice(0, rows);
}

function nowLines(loop: RunView, isAlive: boolean, style: Style, now: number): string[] {
  const { state, outcome, because, needs, waitUntil, waitFor, tool, updatedAt } = loop;
  if (outcome !== null) {
    const next = nextCommand(loop, { asks: needs?.kind === 'answer', isLatest: true });
    return [outcome, ...wrapped(because ?? ''), `Next: ${next}`];
  }
  if (state === 'abandoned' || (!isAlive && state !== 'yielded'))
    return ['The process of this loop is gone.', `Next: ${goOnCommand(loop)}`];
  if (waitUntil !== null) {
    return [
      `Waits ${formatSeconds(waitUntil - now)}, until ${clockTime(waitUntil)}`,
      ...wrapped(waitFor ?? ''),
    ];
  }
  if (state === 'yielded') return ['Waits for its supervisor to start the next iteration'];
  if (state === 'waiting')
    return [`${style.symbol('wait')} ${firstLine(waitFor ?? 'waits')} ${since(updatedAt ?? now, now)}`];
  const check = loop.iterations.at(-1)?.guardrails.findLast(({ ok }) => ok === null);
  if (check) return [`${style.symbol('run')} ${firstLine(check.command)} ${since(check.startedAt, now)}`];
  if (tool === null) return ['The agent thinks'];
  const summary = tool.summary === '' ? '' : `(${firstLine(tool.summary)})`;
  return [`${style.symbol('tool')} ${firstLine(tool.name)}${summary} ${since(tool.startedAt, now)}`];
}

/** Returns the guardrails of a run, those that failed when they ran last before all others. */
export function guardrailsOf({ iterations }: RunView): { command: string; isFailing: boolean }[] {
  const latest = new Map(
    iterations.flatMap(({ guardrails }) => guardrails.map(({ command, ok }) => [command, ok] as const)),
  );
  const all = [...latest].map(([command, ok]) => ({ command, isFailing: ok === false }));
  return all.sort((a, b) => Number(b.isFailing) - Number(a.isFailing));
}

/** Returns a row for each guardrail, with a column for each iteration, the newest to the right. */
export function guardrailPane(loop: RunView, { style, columns, rows }: PaneOptions): string[] {
  const guardrails = guardrailsOf(loop);
  const longest = Math.max(8, ...guardrails.map(({ command }) => command.length));
  const nameWidth = Math.min(longest, Math.floor(columns / 2));
  const latest = loop.iterations.slice(-Math.max(1, columns - nameWidth - 2));
  const lines = guardrails.map(({ command }) => {
    const cells = latest.map((one) => {
      const check = one.guardrails.findLast((other) => other.command === command);
      return check === undefined ? ' ' : checkMark(check, style);
    });
    return `${fitTo(firstLine(command), nameWidth, style.symbol('more'))}  ${cells.join('')}`;
  });
  return cutLines(lines, rows);
}

/** Returns as many lines as there is room for; the last says how many more there are, and how to see them. */
function cutLines(lines: readonly string[], rows: number, how = ''): string[] {
  if (lines.length <= rows) return [...lines];
  return [...lines.slice(0, rows - 1), `+${lines.length - rows + 1} more${how}`];
}

/** Returns the stories of a PRD if there are any, else the agent's own list. */
export function taskPane({ stories, todo }: RunView, { style, rows }: PaneOptions): string[] {
  const [done, active, open] = style.emoji ? ['✓', '▸', '○'] : ['+', '>', 'o'];
  const lines =
    stories.length > 0
      ? stories.map(({ id, title, passes, reviewCount }) => {
          const reviews = reviewCount > 0 ? ` (${plural(reviewCount, 'review')})` : '';
          return { mark: passes ? done : open, isOpen: !passes, text: `${id} ${title}${reviews}` };
        })
      : todo.map(({ status, text }) => ({
          mark: { done, active, pending: open }[status],
          isOpen: status !== 'done',
          text,
        }));
  // Done ones may scroll away.
  const firstOpen = lines.findIndex(({ isOpen }) => isOpen);
  const from = Math.max(0, Math.min(firstOpen === -1 ? lines.length : firstOpen - 1, lines.length - rows));
  return lines.slice(from, from + rows).map(({ mark, isOpen, text }) => {
    const line = `${mark} ${firstLine(text)}`;
    return isOpen ? line : style.dim(line);
  });
}

export function evidencePane(
  one: IterationView | undefined,
  scroll: number,
  { style, columns, rows }: PaneOptions,
): string[] {
  if (one === undefined || one.verdict === null) return ['No claim was judged in this iteration.'];
  const { accepted, because, evidence } = one.verdict;
  const head = accepted ? style.green('Claim accepted') : style.red('Claim rejected');
  const lines = [
    `${head}: ${firstLine(because)}`,
    ...evidence.map(
      (item) => `${checkMark(item, style)} ${firstLine(item.check)}: ${firstLine(item.detail)}`,
    ),
  ].flatMap((line) => wrapTo(line, columns));
  return cutLines(lines.slice(Math.min(scroll, Math.max(0, lines.length - rows))), rows, ' (Space)');
}

export function textPane(text: string, { columns, rows }: PaneOptions): string[] {
  return wrapTo(text.trimEnd(), columns).slice(-rows);
}

function wrapped(text: string): string[] {
  return cleanTerminal(text).split('\n').slice(0, 5);
}

function since(at: number, now: number): string {
  return now - at < 1000 ? '' : formatSeconds(now - at);
}

function sum(times: Readonly<Record<string, number>>): number {
  return Object.values(times).reduce((all, one) => all + one, 0);
}

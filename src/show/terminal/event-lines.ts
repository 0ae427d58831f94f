import type { AgentEvent, TodoItem } from '../../agents/adapter.ts';
import { formatDuration } from '../../core/duration.ts';
import { plural } from '../../core/text.ts';
import type { Usage } from '../../core/turn.ts';
import type { Style } from './style.ts';
import { costText, usageText } from './units.ts';

const largeOutput = 4096;

type ToolEnd = Extract<AgentEvent, { type: 'tool-end' }>;

export type TurnFigures = {
  readonly usage: Usage | null;
  readonly tools: number;
  readonly errors: number;
  readonly ms: number;
};

/** `⏺ Read(/path)` */
export function toolStartLine(style: Style, name: string, summary: string): string {
  return `${style.cyan(style.symbol('tool'))} ${style.bold(name)}${summary === '' ? '' : `(${summary})`}`;
}

/** `✅ Result ← Read (45 lines, 1234 chars)` with the beginning of the output below. */
export function toolEndLines(
  event: ToolEnd,
  name: string,
  { style, limits, clean }: { style: Style; limits: ExcerptLimits; clean(text: string): string },
): string[] {
  const { ok, exitCode } = event;
  // Only the beginning is shown; cleaning all of a large output would cost more than reading it.
  const isLarge = event.output.length > largeOutput;
  const output = isLarge ? event.output : clean(event.output);
  const head = excerpt(isLarge ? clean(output.slice(0, largeOutput)) : output, limits, style.symbol('more'));
  const lines = isLarge ? countLines(output, 0) : head.lines;
  const more = isLarge ? lines - (head.lines - head.more) : head.more;
  const size = output === '' ? 'no output' : `${plural(lines, 'line')}, ${plural(output.length, 'char')}`;
  const figure = ok || exitCode === undefined ? size : `exit ${exitCode}`;
  const title = ok
    ? style.green(`${style.symbol('pass')} Result`)
    : style.red(`${style.symbol('fail')} Error`);
  const body =
    more === 0 || limits.lines === 0
      ? head.first
      : [...head.first, `${style.symbol('more')} +${plural(more, 'line')}`];
  return [
    `${title} ${style.symbol('from')} ${name} ${style.dim(`(${figure})`)}`,
    ...body.map((line, index) => style.dim(`  ${index === 0 ? style.symbol('output') : ' '}  ${line}`)),
  ];
}

export function todoLines(style: Style, items: readonly TodoItem[]): string[] {
  if (items.length === 0) return [];
  const done = items.filter(({ status }) => status === 'done').length;
  const percent = Math.round((done / items.length) * 100);
  return [
    style.bold(`${style.symbol('todo')} Todo List`),
    ...items.map((item) => `  ${todoLine(style, item)}`),
    `  ${style.symbol('progress')} Progress: ${done}/${items.length} (${percent}%)`,
  ];
}

function todoLine(style: Style, { status, text }: TodoItem): string {
  if (status === 'done') return style.dim(`${style.symbol('pass')} ${text}`);
  if (status === 'pending') return `${style.symbol('pending')} ${text}`;
  return style.yellow(`${style.symbol('active')} ${text} ${style.symbol('from')} ACTIVE`);
}

/** `✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s)` */
export function resultLine(style: Style, ok: boolean, error: string, figures: TurnFigures): string {
  const { usage, tools, errors, ms } = figures;
  const all = [
    ...(usage === null ? [] : usageFigures(usage)),
    `tools: ${tools}`,
    `errors: ${errors}`,
    `time: ${formatDuration(ms)}`,
  ].join(', ');
  if (ok) return style.green(`${style.symbol('pass')} Complete (${all})`);
  return style.red(`${style.symbol('fail')} Failed${error === '' ? '' : `: ${error}`} (${all})`);
}

function usageFigures(usage: Usage): string[] {
  const cost = costText(usage);
  return [...(cost === '' ? [] : [`cost: ${cost}`]), `tokens: ${usageText(usage)}`];
}

/** The first lines of a text that are not blank; `lines` counts all of them, `more` those that follow. */
type Excerpt = { readonly lines: number; readonly first: readonly string[]; readonly more: number };

export type ExcerptLimits = { readonly lines: number; readonly chars: number };

/** Looks only at the lines that are shown, and counts the rest: a tool may print 50 MB. */
function excerpt(text: string, limits: ExcerptLimits, ellipsis: string): Excerpt {
  const first: string[] = [];
  let room = limits.chars;
  let at = 0;
  let count = 0;
  while (at < text.length && first.length < limits.lines && room > 0) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (/\S/.test(line)) {
      first.push(line.length <= room ? line.trimEnd() : cutAt(line, room) + ellipsis);
      room -= line.length;
    }
    count += 1;
    at = end + 1;
  }
  const following = countLines(text, at);
  // Blank lines at the end are no reason to say that there is more.
  return { lines: count + following, first, more: following > 0 && hasInk(text, at) ? following : 0 };
}

/** Counts the lines of a text from a place on; a newline at the end begins no further one. */
function countLines(text: string, from: number): number {
  let lines = 0;
  for (let at = from; at < text.length; lines += 1) {
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return lines;
}

function hasInk(text: string, from: number): boolean {
  const ink = /\S/g;
  ink.lastIndex = from;
  return ink.test(text);
}

/** Cuts a line, but not a surrogate pair. */
function cutAt(line: string, length: number): string {
  const half = line.slice(0, length);
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half;
}

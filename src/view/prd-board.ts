import type { BoardRow, PrdStatus } from '../prd/status.ts';
import type { Style } from './style.ts';

const widestTitle = 44;
const widestFeedback = 60;
const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** The stories of a PRD as a table, and how they went down. */
export function prdBoard(status: PrdStatus, style: Style): string {
  const { counts, next, stories } = status;
  const ids = width(
    stories.map(({ id }) => id),
    20,
  );
  const titles = width(
    stories.map(({ title }) => title),
    widestTitle,
  );
  const lines = stories.map((row) => {
    const about = [
      `${row.reviewCount} review${row.reviewCount === 1 ? '' : 's'}`,
      ...(row.approvedOutside ? ['approved by no review of this loop'] : []),
      ...(row.waitsFor.length > 0 ? [`waits for ${row.waitsFor.join(', ')}`] : []),
      ...(row.waitsFor.length === 0 && row.dependsOn.length > 0 ? [`after ${row.dependsOn.join(', ')}`] : []),
    ].join(', ');
    const paint = paintOf(row, style);
    const cells = [shorten(row.id, 20).padEnd(ids), shorten(row.title, titles).padEnd(titles)];
    const line = `  ${paint(`${markOf(row, style)} ${row.state.padEnd(19)}`)}  ${cells.join('  ')}  ${style.dim(about)}`;
    return row.reviewFeedback.trim() === ''
      ? line.trimEnd()
      : `${line}\n      ${style.yellow(shorten(oneLine(row.reviewFeedback), widestFeedback))}`;
  });
  const todo = status.complete
    ? 'Every story is done. Next: ralph prd archive'
    : `Next: ${next.mode}${next.story === null ? '' : ` ${next.story}`}, about ${status.estimatedIterations} iterations left`;
  return [
    style.bold(
      `${status.project || 'PRD'} (${status.branchName}): ${counts.done} of ${counts.total} stories done`,
    ),
    ...lines,
    '',
    ...burnDownLine(status, style),
    ...(status.running === null ? [] : [`A loop works on it: process ${status.running}`]),
    ...status.problems.map((problem) => style.yellow(`${style.symbol('warn')} ${problem}`)),
    todo,
    '',
  ].join('\n');
}

function burnDownLine({ burnDown, counts }: PrdStatus, style: Style): string[] {
  if (burnDown.length === 0) return [];
  const most = Math.max(1, counts.total, ...burnDown.map(({ left }) => left));
  const shown = burnDown
    .slice(-60)
    .map(({ left }) => bars[Math.ceil((left / most) * (bars.length - 1))] ?? '█');
  const figures = burnDown.slice(-12).map(({ left }) => left);
  return [`Burn-down: ${style.emoji ? shown.join('') : ''} ${figures.join(' ')} left`.replace('  ', ' ')];
}

function markOf({ passes, mode }: BoardRow, style: Style): string {
  if (passes) return style.symbol('pass');
  return mode === 'implement' ? style.symbol('pending') : style.symbol('active');
}

function paintOf({ passes, reviewStatus }: BoardRow, style: Style): (text: string) => string {
  if (passes) return style.green;
  if (reviewStatus === 'changes_requested') return style.red;
  return reviewStatus === 'needs_review' ? style.cyan : (text) => text;
}

function width(texts: readonly string[], most: number): number {
  return Math.min(most, Math.max(0, ...texts.map((text) => text.length)));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, Math.max(0, max - 1))}…` : text;
}

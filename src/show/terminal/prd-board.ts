import { plural } from '../../core/text.ts';
import { planCommand } from '../../drive/prd/open.ts';
import type { BoardRow, PrdStatus } from '../../drive/prd/status.ts';
import type { Style } from './style.ts';
import { cutTo, fitTo, widthOf } from './width.ts';

const widestId = 20;
const widestTitle = 44;
const narrowestTitle = 8;
const widestFeedback = 60;
const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Returns the stories of a PRD as a table, and their burn-down. With few columns, titles are cut. */
export function prdBoard(status: PrdStatus, style: Style, columns = 120): string {
  const { counts, stories } = status;
  const states = widest(
    stories.map(({ state }) => state),
    columns,
  );
  const ids = widest(
    stories.map(({ id }) => oneLine(id)),
    widestId,
  );
  const abouts = widest(stories.map(aboutOf), columns);
  const titles = widest(
    stories.map(({ title }) => oneLine(title)),
    Math.min(widestTitle, Math.max(narrowestTitle, columns - states - ids - abouts - 12)),
  );
  const lines = stories.map((row) => {
    const paint = paintOf(row, style);
    const cells = [fitTo(oneLine(row.id), ids), fitTo(oneLine(row.title), titles)];
    const line = `  ${paint(`${markOf(row, style)} ${fitTo(row.state, states)}`)}  ${cells.join('  ')}  ${style.dim(aboutOf(row))}`;
    return row.reviewFeedback.trim() === ''
      ? line.trimEnd()
      : `${line}\n      ${style.yellow(cutTo(oneLine(row.reviewFeedback), Math.min(widestFeedback, columns - 6)))}`;
  });
  return [
    style.bold(
      `${status.project || 'PRD'} (${status.branchName}): ${counts.done} of ${counts.total} stories done`,
    ),
    ...lines,
    '',
    ...burnDownLine(status, style),
    ...(status.running === null ? [] : [`A loop works on it: process ${status.running}`]),
    ...status.problems.map((problem) => style.yellow(`${style.symbol('warn')} ${problem}`)),
    nextLine(status),
    '',
  ].join('\n');
}

function aboutOf(row: BoardRow): string {
  return [
    plural(row.reviewCount, 'review'),
    ...(row.approvedOutside ? ['approved by no review of this loop'] : []),
    ...(row.waitsFor.length > 0 ? [`waits for ${row.waitsFor.join(', ')}`] : []),
    ...(row.waitsFor.length === 0 && row.dependsOn.length > 0 ? [`after ${row.dependsOn.join(', ')}`] : []),
  ].join(', ');
}

function nextLine({ complete, counts, next, estimatedIterations }: PrdStatus): string {
  if (counts.total === 0) return `There are no stories yet. Next: ${planCommand}`;
  if (complete) return 'Every story is done. Next: ralph prd archive';
  return `Next: ${next.mode}${next.story === null ? '' : ` ${next.story}`}, about ${estimatedIterations} iterations left`;
}

function burnDownLine({ burnDown, counts }: PrdStatus, style: Style): string[] {
  if (burnDown.length === 0) return [];
  const most = Math.max(1, counts.total, ...burnDown.map(({ left }) => left));
  const blocks = burnDown
    .slice(-60)
    .map(({ left }) => bars[Math.ceil((left / most) * (bars.length - 1))] ?? '█');
  const figures = burnDown.slice(-12).map(({ left }) => left);
  return [`Burn-down: ${style.emoji ? blocks.join('') : ''} ${figures.join(' ')} left`.replace('  ', ' ')];
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

function widest(texts: readonly string[], most: number): number {
  return Math.min(most, Math.max(0, ...texts.map(widthOf)));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

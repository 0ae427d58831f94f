import { cleanTerminal } from '../safety/terminal.ts';

/** Rows in columns as wide as their widest word; nothing at all where there are no rows. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [head, ...rows].map((row) => row.map((cell) => cleanTerminal(cell).replace(/[\n\t]+/g, ' ')));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';

/** Rows in columns as wide as their widest word; nothing at all where there are no rows. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const all = [head, ...rows];
  // One look at the whole is cheaper than one at each cell, and nearly always enough.
  const lines = isPlain(all.flat().join('')) ? all : all.map((row) => row.map(plainText));
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

function isPlain(text: string): boolean {
  return plainText(text) === text;
}

function plainText(text: string): string {
  return cleanTerminal(text).replace(/[\n\t]+/g, ' ');
}

import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context } from '../kernel/spec.ts';

/** A list in each of the formats that `--format` has. */
type List = {
  readonly names: readonly string[];
  json(): readonly unknown[];
  readonly head: readonly string[];
  rows(): readonly (readonly string[])[];
};

/** Writes a list in a format, `table` if none is given. */
export function writeList(context: Context, format = 'table', list: List): void {
  const { stdout } = context;
  if (format === 'json') writeJson(context, list.json());
  else if (format === 'names') stdout.write(list.names.map((name) => `${name}\n`).join(''));
  else stdout.write(tableText(list.head, list.rows()));
}

/** Rows in columns as wide as their widest word; nothing at all without rows. */
function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const all = [head, ...rows];
  // Cleaning all cells at once is cheaper, and nearly always finds nothing.
  const lines = isPlain(all.flat().join('')) ? all : all.map((row) => row.map(plainText));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const lineText = (line: readonly string[]) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return lines.map((line) => `${lineText(line).trimEnd()}\n`).join('');
}

function isPlain(text: string): boolean {
  return plainText(text) === text;
}

function plainText(text: string): string {
  return cleanTerminal(text).replace(/[\n\t]+/g, ' ');
}

import type { Style } from './style.ts';
import { wrapTo } from './width.ts';

const nameWidth = 12;

/** Returns a line for each fact that has a value, wrapped at words. A command stays whole, so that it can be copied. */
export function factLines(
  facts: readonly (readonly [name: string, value: string, isCommand?: true])[],
  style: Style,
): string {
  const indent = ' '.repeat(nameWidth);
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([name, value, isCommand]) => {
      const columns = isCommand ? Number.POSITIVE_INFINITY : Math.max(20, style.columns - nameWidth);
      const [first, ...rest] = wrapTo(value, columns);
      return [style.bold(name.padEnd(nameWidth)) + first, ...rest.map((line) => indent + line)].join('\n');
    });
  return `${lines.join('\n')}\n`;
}

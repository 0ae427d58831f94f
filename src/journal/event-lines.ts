/** Lines that were left out: those that are no events, and events that only a newer release knows. */
export type Skipped = { readonly damaged: number; readonly unknown: number };

/** Reads an event from each line, and counts the lines that have none. Blank lines do not count. */
export function readEventLines<E extends object>(
  lines: readonly string[],
  parse: (line: string) => E | keyof Skipped,
): Skipped & { readonly events: readonly E[] } {
  const events: E[] = [];
  const skipped = { damaged: 0, unknown: 0 };
  for (const line of lines) {
    if (line === '') continue;
    const event = parse(line);
    if (typeof event === 'string') skipped[event]++;
    else events.push(event);
  }
  return { events, ...skipped };
}

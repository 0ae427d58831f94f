import type { AgentAdapter } from '../../agents/adapter.ts';
import { createFormatter } from '../terminal/formatter.ts';
import { addToFigures, type LiveFigures, noFigures } from '../terminal/status-line.ts';
import type { Style } from '../terminal/style.ts';

const keptChars = 64 * 1024;

export function createLiveOutput(adapter: AgentAdapter, style: Style, now: () => number) {
  const state = adapter.newState();
  let text = '';
  let figures: LiveFigures = noFigures;
  const formatter = createFormatter({
    style,
    now,
    write(more) {
      text = (text + more).slice(-keptChars);
    },
  });

  return {
    line(line: Buffer): void {
      figures = { ...figures, lastSign: now() };
      for (const event of adapter.parse(line.toString('utf8'), state)) {
        figures = addToFigures(figures, event, now());
        formatter.event(event);
      }
    },
    /** Returns the end of the output, as `ralph run` would show it. */
    text: () => text,
    figures: () => figures,
  };
}

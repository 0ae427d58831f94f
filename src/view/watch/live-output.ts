import type { AgentAdapter, AgentEvent } from '../../agents/adapter.ts';
import { addUsage, noUsage } from '../../core/turn.ts';
import { createFormatter } from '../formatter.ts';
import { type LiveFigures, noFigures } from '../status-line.ts';
import type { Style } from '../style.ts';

const keptChars = 64 * 1024;

/** What the agent of an iteration says and does, from the stream that it writes. */
export type LiveOutput = {
  line(line: Buffer): void;
  /** The end of it, cleaned, as `ralph run` would show it. */
  text(): string;
  figures(): LiveFigures;
};

export function createLiveOutput(adapter: AgentAdapter, style: Style, now: () => number): LiveOutput {
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

  function count(event: AgentEvent): void {
    if (event.type === 'usage')
      figures = { ...figures, usage: addUsage(figures.usage ?? noUsage, event.usage) };
    if (event.type === 'result' && event.usage) figures = { ...figures, usage: event.usage };
    if (event.type === 'context') figures = { ...figures, context: event.size };
  }

  return {
    line(line) {
      figures = { ...figures, lastSign: now() };
      for (const event of adapter.parse(line.toString('utf8'), state)) {
        count(event);
        formatter.event(event);
      }
    },
    text: () => text,
    figures: () => figures,
  };
}

import type { AgentEvent } from '../../agents/adapter.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { isOpen, RunView } from '../../journal/run-view.ts';
import { addToFigures, type LiveFigures, noFigures, statusLine } from './status-line.ts';
import type { Style } from './style.ts';

/** A stream to write to; `columns` if it is a terminal. */
export type Output = {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

const erase = '\x1b[J';

/** Status line below all other output, while a loop runs in a terminal. */
export function createStatusBar(terminal: Output, style: Style, now: () => number) {
  const view = new RunView('');
  let live: LiveFigures = noFigures;
  let timer: NodeJS.Timeout | null = null;

  /** Returns the status on the line below; the cursor stays where the text ends. */
  function barText(): string {
    if (timer === null) return '';
    const width = (terminal.columns ?? 80) - 1;
    const line = statusLine(view, live, { style, width, now: now() });
    // Index and back make a line below the cursor and keep the column. The status does not wrap.
    return `\x1bD\x1b[A\x1b7\x1b[B\r\x1b[?7l${line}\x1b[?7h\x1b8`;
  }

  function redraw(): void {
    if (timer !== null) terminal.write(`\x1b[?2026h${erase}${barText()}\x1b[?2026l`);
  }

  function stop(): void {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    terminal.write(erase);
  }

  return {
    journal(event: JournalEvent): void {
      addEvent(view, event);
      if (event.type === 'agent.started') live = { ...noFigures, lastSign: now() };
      if (event.type === 'agent.ended') live = noFigures;
      if (event.type === 'iteration.started') timer ??= setInterval(redraw, 1000).unref();
      if (!isOpen(view)) stop();
    },
    agent(event: AgentEvent): void {
      live = addToFigures(live, event, now());
    },
    /** Notes a sign of life of the agent that is no event. */
    sign(): void {
      live = { ...live, lastSign: now() };
    },
    /** Returns an output for all others; the status line is drawn again below what they write. */
    over: (output: Output): Output => ({
      ...(output.isTTY === undefined ? {} : { isTTY: output.isTTY }),
      write(text) {
        if (timer === null) return output.write(text);
        const before = `\x1b[?2026h${erase}`;
        const after = `${barText()}\x1b[?2026l`;
        if (typeof text === 'string') return output.write(`${before}${text}${after}`);
        return output.write(Buffer.concat([Buffer.from(before), text, Buffer.from(after)]));
      },
    }),
    close: stop,
  };
}

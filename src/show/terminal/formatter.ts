import type { AgentEvent } from '../../agents/adapter.ts';
import { oneLine } from '../../core/text.ts';
import { addUsage, noUsage, type Usage } from '../../core/turn.ts';
import {
  cleanTerminal,
  createTerminalCleaner,
  type TerminalCleaner,
} from '../../os/terminal/clean-terminal.ts';
import { type BlockKind, createBlocks } from './blocks.ts';
import { resultLine, todoLines, toolEndLines, toolStartLine } from './event-lines.ts';
import type { Style } from './style.ts';

export type FormatterOptions = {
  readonly style: Style;
  write(text: string): void;
  /** Epoch milliseconds. */
  now(): number;
  /** `[HH:MM:SS] ` before each line. */
  readonly timestamps?: boolean;
  /** How much of a tool's output is shown. */
  readonly maxOutputLines?: number;
  readonly maxOutputChars?: number;
  /** Let the agent's control sequences through. */
  readonly raw?: boolean;
};

/** Shows what an agent does, event by event. After `end` the next event begins a new turn. */
export type Formatter = {
  event(event: AgentEvent): void;
  /** Ends the line that is open: somebody else has something to say. */
  endLine(): void;
  end(): void;
};

type Totals = { readonly startedAt: number; usage: Usage | null; tools: number; errors: number };
type BlockEvent = Exclude<AgentEvent, { type: 'text' | 'retract' | 'usage' | 'context' | 'unknown' }>;
type Block = readonly [kind: Exclude<BlockKind, 'text'>, lines: readonly string[]];

const passThrough: TerminalCleaner = { push: (chunk) => chunk, end: () => '' };

export function createFormatter(options: FormatterOptions): Formatter {
  const { style, now, raw = false, maxOutputLines = 3, maxOutputChars = 400 } = options;
  const limits = { lines: maxOutputLines, chars: maxOutputChars };
  const prefix = () => (options.timestamps ? style.dim(`[${timeOfDay(now())}] `) : '');
  const blocks = createBlocks(options.write, prefix);
  const clean = raw ? passThrough.push : cleanTerminal;
  const line = (text: string) => oneLine(clean(text), maxOutputChars);
  const toolNames = new Map<string, string>();
  let cleaner: TerminalCleaner | null = null;
  let totals: Totals | null = null;
  let held: Extract<AgentEvent, { type: 'result' }> | null = null;

  function endText(): void {
    if (cleaner !== null) blocks.text(cleaner.end());
    cleaner = null;
    blocks.endText();
  }

  function addText(text: string, goesOn: boolean): void {
    if (!goesOn) endText();
    cleaner ??= raw ? passThrough : createTerminalCleaner();
    blocks.text(cleaner.push(text));
  }

  function toBlock(event: BlockEvent, totals: Totals): Block {
    switch (event.type) {
      case 'session':
        return ['lines', [style.dim(line(`Session ${event.id}${event.model ? ` (${event.model})` : ''}`))]];
      case 'notice':
        return ['lines', [style.dim(line(event.text))]];
      case 'error':
        totals.errors += 1;
        return ['lines', [style.red(`${style.symbol('fail')} ${line(event.message)}`)]];
      case 'tool-start':
        totals.tools += 1;
        toolNames.set(event.id, line(event.name));
        return ['tools', [toolStartLine(style, line(event.name), line(event.summary))]];
      case 'tool-end': {
        totals.errors += event.ok ? 0 : 1;
        const name = toolNames.get(event.id) ?? 'tool';
        toolNames.delete(event.id);
        return ['tools', toolEndLines(style, event, name, limits, clean)];
      }
      case 'subagent':
        return ['tools', [style.dim(`  ${line(event.text)}`)]];
      case 'todo':
        return [
          'alone',
          todoLines(
            style,
            event.items.map((item) => ({ ...item, text: line(item.text) })),
          ),
        ];
      case 'result': {
        totals.usage = event.usage ?? totals.usage;
        const figures = { ...totals, ms: now() - totals.startedAt };
        return ['alone', [resultLine(style, event.ok, line(event.error ?? ''), figures)]];
      }
    }
  }

  function show(event: AgentEvent, totals: Totals): void {
    if (event.type === 'unknown' || event.type === 'retract' || event.type === 'context') return;
    // A result after which the agent may go on is shown when it did not.
    held = event.type === 'result' && event.more ? event : null;
    if (held !== null) return;
    if (event.type === 'text') {
      addText(event.text, event.delta === true);
    } else if (event.type === 'usage') {
      totals.usage = addUsage(totals.usage ?? noUsage, event.usage);
    } else {
      endText();
      blocks.add(...toBlock(event, totals));
    }
  }

  return {
    event(event) {
      totals ??= { startedAt: now(), usage: null, tools: 0, errors: 0 };
      show(event, totals);
      blocks.flush();
    },
    endLine() {
      endText();
      blocks.flush();
    },
    end() {
      if (held !== null && totals !== null) {
        const { more: _, ...final } = held;
        show(final, totals);
      }
      endText();
      blocks.end();
      toolNames.clear();
      totals = null;
    },
  };
}

function timeOfDay(ms: number): string {
  const date = new Date(ms);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

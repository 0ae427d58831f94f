import type { AgentEvent } from '../../agents/adapter.ts';
import { oneLine } from '../../core/text.ts';
import { addUsage, noUsage, type Usage } from '../../core/turn.ts';
import {
  cleanTerminal,
  createTerminalCleaner,
  type TerminalCleaner,
} from '../../os/terminal/clean-terminal.ts';
import { type BlockKind, createBlocks } from './blocks.ts';
import { type ExcerptLimits, resultLine, todoLines, toolEndLines, toolStartLine } from './event-lines.ts';
import type { Style } from './style.ts';
import { clockTime } from './units.ts';

export type FormatterOptions = {
  readonly style: Style;
  write(text: string): void;
  /** Epoch milliseconds. */
  now(): number;
  /** `[HH:MM:SS] ` before each line. */
  readonly timestamps?: boolean;
  readonly maxOutput?: Partial<ExcerptLimits> | undefined;
  /** Lets the agent's control sequences through. */
  readonly raw?: boolean;
};

type TurnState = {
  readonly startedAt: number;
  usage: Usage | null;
  tools: number;
  errors: number;
  /** Errors that need not be told again: shown already, or a limit, which the loop tells. */
  readonly told: Set<string>;
  /** By the id of the call. */
  readonly toolNames: Map<string, string>;
};

type Format = Pick<FormatterOptions, 'style' | 'now'> & {
  readonly limits: ExcerptLimits;
  clean(text: string): string;
};

type BlockEvent = Exclude<AgentEvent, { type: 'text' | 'retract' | 'usage' | 'context' | 'unknown' }>;
type Block = readonly [kind: Exclude<BlockKind, 'text'>, lines: readonly string[]];

const passThrough: TerminalCleaner = { push: (chunk) => chunk, end: () => '' };

/** Prints what an agent does, event by event. After `end` the next event begins a new turn. */
export function createFormatter(options: FormatterOptions) {
  const { style, now, raw = false } = options;
  const prefix = () => (options.timestamps ? style.dim(`[${clockTime(now())}] `) : '');
  const blocks = createBlocks(options.write, prefix);
  const format: Format = {
    style,
    now,
    limits: { lines: 3, chars: 400, ...options.maxOutput },
    clean: raw ? passThrough.push : cleanTerminal,
  };
  let cleaner: TerminalCleaner | null = null;
  let turn: TurnState | null = null;
  let pendingResult: Extract<AgentEvent, { type: 'result' }> | null = null;

  function endText(): void {
    if (cleaner !== null) blocks.text(cleaner.end());
    cleaner = null;
    blocks.endText();
  }

  function show(event: AgentEvent): void {
    turn ??= { startedAt: now(), usage: null, tools: 0, errors: 0, told: new Set(), toolNames: new Map() };
    if (event.type === 'unknown' || event.type === 'retract' || event.type === 'context') return;
    // A result after which the agent may go on is shown if it does not.
    pendingResult = event.type === 'result' && event.more ? event : null;
    if (pendingResult !== null) return;
    if (event.type === 'text') {
      if (event.delta !== true) endText();
      cleaner ??= raw ? passThrough : createTerminalCleaner();
      blocks.text(cleaner.push(event.text));
    } else if (event.type === 'usage') {
      turn.usage = addUsage(turn.usage ?? noUsage, event.usage);
    } else {
      endText();
      blocks.add(...toBlock(event, turn, format));
    }
  }

  return {
    event(event: AgentEvent): void {
      show(event);
      blocks.flush();
    },
    /** Ends the open line, so that others can print. */
    endLine(): void {
      endText();
      blocks.flush();
    },
    end(): void {
      if (pendingResult !== null) {
        const { more: _, ...final } = pendingResult;
        show(final);
      }
      endText();
      blocks.end();
      turn = null;
    },
  };
}

/** Returns the lines of an event and the kind of block they belong to; counts it in the turn. */
function toBlock(event: BlockEvent, turn: TurnState, { style, now, limits, clean }: Format): Block {
  const line = (text: string) => oneLine(clean(text), limits.chars);
  switch (event.type) {
    case 'session':
      return ['lines', [style.dim(line(`Session ${event.id}${event.model ? ` (${event.model})` : ''}`))]];
    case 'notice':
      return ['lines', [style.dim(line(event.text))]];
    case 'error':
      turn.errors += 1;
      turn.told.add(event.message);
      // An overload is tried again by the agent itself, which may take minutes.
      if (event.limit && event.limit.kind !== 'overload') return ['lines', []];
      return ['lines', [style.red(`${style.symbol('fail')} ${line(event.message)}`)]];
    case 'tool-start':
      turn.tools += 1;
      turn.toolNames.set(event.id, line(event.name));
      return ['tools', [toolStartLine(style, line(event.name), line(event.summary))]];
    case 'tool-end': {
      turn.errors += event.ok ? 0 : 1;
      const name = turn.toolNames.get(event.id) ?? 'tool';
      turn.toolNames.delete(event.id);
      return ['tools', toolEndLines(event, name, { style, limits, clean })];
    }
    case 'subagent':
      return ['tools', [style.dim(`  ${line(event.text)}`)]];
    case 'todo': {
      const items = event.items.map((item) => ({ ...item, text: line(item.text) }));
      return ['alone', todoLines(style, items)];
    }
    case 'result': {
      turn.usage = event.usage ?? turn.usage;
      const figures = { ...turn, ms: now() - turn.startedAt };
      const error = turn.told.has(event.error ?? '') ? '' : line(event.error ?? '');
      return ['alone', [resultLine(style, event.ok, error, figures)]];
    }
  }
}

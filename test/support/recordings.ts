import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentAdapter, AgentEvent, TodoItem } from '../../src/agents/adapter.ts';
import { parseRecord } from '../../src/agents/json.ts';
import { createTurnReader, type EndCause, type StreamedTurn } from '../../src/agents/turn.ts';
import type { LimitKind, TurnEnd, Usage } from '../../src/core/turn.ts';

/** The turn in a recorded stream. Left out means: none, finished, exit code 0, the process ended by itself. */
export type ExpectedTurn = {
  readonly text: readonly string[];
  /** All of them, also those that failed; as many as `tools` unless given. */
  readonly toolCalls?: number | null;
  readonly end?: TurnEnd;
  readonly exitCode?: number | null;
  readonly cause?: EndCause;
  /** The recording continues an earlier session. */
  readonly resumed?: boolean;
  readonly limit?: { readonly kind: LimitKind; readonly resetsAt?: number };
  readonly usage?: Usage;
  /** How each tool call ended, in order. */
  readonly tools?: readonly { readonly ok: boolean; readonly exitCode?: number }[];
  /** The todo list at the end. */
  readonly todo?: readonly TodoItem[];
  /** Events in it that the adapter is right not to know. */
  readonly unknown?: Readonly<Record<string, number>>;
};

const clock = Date.UTC(2026, 10, 15, 12);
const leak = '<promise>LEAK</promise>';

/** What many of the scripted models say. */
export const done = 'All finished. <promise>DONE</promise>';
export const nonAscii =
  'Zażółć gęślą jaźń — 日本語テスト 🚀 "quotes" \\ back\\slash\ttab é́ \u202Ertl\u202C <promise>DONE</promise>';

/** The usage of so many answers: each has the same size in all recordings. */
export function answersOf(count: number, costUsd?: number): Usage {
  return {
    inputTokens: 1000 * count,
    outputTokens: 50 * count,
    cacheReadTokens: 800 * count,
    cacheWriteTokens: 0,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** The tests that every adapter has to pass, over its recordings. `expected` has the turn in each, by its name. */
export function describeRecordings(
  adapter: AgentAdapter,
  expected: Readonly<Record<string, ExpectedTurn>>,
): void {
  const folder = new URL(`../../src/agents/${adapter.name}/fixtures/`, import.meta.url);
  const recordings = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));

  it(`${adapter.name} has an expectation for every recording, and no other`, () => {
    expect(Object.keys(expected).sort()).toEqual(recordings.map((name) => name.slice(0, -7)).sort());
  });

  const linesOf = (name: string) =>
    readFileSync(new URL(`${name}.ndjson`, folder), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  const anyRecording = fc.constantFrom(
    ...Object.entries(expected).map(([name, turn]) => ({ name, turn, lines: linesOf(name) })),
  );

  describe.each(Object.entries(expected))(`${adapter.name} reads %s`, (name, turn) => {
    const lines = linesOf(name);
    const play = (input: readonly string[]) => readTurn(adapter, input, turn);

    it('as a person would', () => {
      const { events, read: got } = play(lines);
      const { tools = [], toolCalls = tools.length } = turn;
      expect(seen(got, events)).toEqual({
        text: turn.text,
        toolCalls: toolCalls && toolCalls - tools.filter(({ ok }) => !ok).length,
        end: turn.end ?? 'finished',
        limit: turn.limit,
        usage: turn.usage,
        tools,
        todo: turn.todo,
        unknown: turn.unknown ?? {},
      });
      const starts = events.filter((event) => event.type === 'tool-start').map(({ id }) => id);
      const ends = events.filter((event) => event.type === 'tool-end').map(({ id }) => id);
      expect(new Set(starts).size).toBe(starts.length);
      expect(starts).toEqual(expect.arrayContaining(ends));
    });

    it('up to any line, and calls nothing finished before its end', () => {
      for (let n = 0; n < lines.length; n++) {
        const { events, read: got } = play(lines.slice(0, n));
        const hasResult = events.some((event) => event.type === 'result');
        if (!hasResult && !adapter.endsWithoutResult) expect(got.end).not.toBe('finished');
      }
    });

    it("without taking anything else for the agent's own text", () => {
      const own = turn.text.join('\n');
      // Two of each field are enough: a stream may repeat the same event a hundred times.
      const counts = new Map<string, number>();
      for (const [i, line] of lines.entries()) {
        const event = parseRecord(line);
        if (event === undefined) continue;
        for (const { path, value } of stringsIn(event)) {
          const field = [event.type, ...path.filter((key) => typeof key === 'string')].join('.');
          counts.set(field, (counts.get(field) ?? 0) + 1);
          if (own.includes(value) || (counts.get(field) ?? 0) > 2) continue;
          const middle = value.length / 2;
          const planted = value.slice(0, middle) + leak + value.slice(middle);
          const { read: got } = play(lines.with(i, JSON.stringify(replaceAt(event, path, planted))));
          if (got.text.join('').includes('LEAK'))
            expect.fail(`line ${i + 1}, ${path.join('.')} got into the text`);
        }
      }
    });
  });

  it(`${adapter.name} reads the same with blank lines, carriage returns and another stream in between`, () => {
    const gaps = fc.array(fc.array(fc.constantFrom('', '\r', '  '), { maxLength: 3 }));
    fc.assert(
      fc.property(anyRecording, gaps, ({ lines, turn }, blanks) => {
        const reader = newReader(adapter, turn);
        const other = newReader(adapter, turn);
        for (const [i, line] of lines.entries()) {
          if (!adapter.endsWithoutResult) for (const blank of blanks[i] ?? []) reader.push(blank);
          reader.push(line);
          other.push(lines[lines.length - 1 - i] ?? '');
        }
        expect(reader.finish(endOf(turn))).toEqual(readTurn(adapter, lines, turn).read);
      }),
      { numRuns: 100 },
    );
  });

  it(`${adapter.name} reads what is garbled without throwing`, () => {
    fc.assert(
      fc.property(
        anyRecording,
        fc.array(garbling, { minLength: 1, maxLength: 4 }),
        ({ lines, turn }, garblings) => {
          const { events } = readTurn(adapter, garblings.reduce(garble, lines), turn);
          expect(events.filter((event) => !isSound(event))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
}

function readTurn(adapter: AgentAdapter, lines: readonly string[], turn: ExpectedTurn) {
  const reader = newReader(adapter, turn);
  const events = lines.flatMap((line) => reader.push(line));
  return { events, read: reader.finish(endOf(turn)) };
}

function newReader(adapter: AgentAdapter, { resumed = false }: ExpectedTurn) {
  return createTurnReader(adapter, { now: () => clock, resumed });
}

function endOf({ exitCode = 0, cause = 'exited' }: ExpectedTurn) {
  return { exitCode, cause };
}

function seen(read: StreamedTurn, events: readonly AgentEvent[]) {
  const { text, toolCalls, end, usage, unknown, limit } = read;
  const tools = events
    .filter((event) => event.type === 'tool-end')
    .map(({ ok, exitCode }) => ({ ok, ...(exitCode === undefined ? {} : { exitCode }) }));
  const todo = events.filter((event) => event.type === 'todo').at(-1)?.items;
  const { message: _, ...told } = limit ?? {};
  return { text, toolCalls, end, usage: usage && rounded(usage), unknown, limit: limit && told, tools, todo };
}

/** Sums of floats, so that a table can say 0.03 and mean it. */
function rounded(usage: Usage): Usage {
  return usage.costUsd === undefined ? usage : { ...usage, costUsd: Number(usage.costUsd.toFixed(6)) };
}

const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.5,
  '',
  'odd',
  '-1',
  [],
  [[]],
  [null],
  ['odd'],
  {},
  { type: 'text' },
];

const garbling = fc.record({
  how: fc.constantFrom('cut', 'splice', 'value', 'repeat', 'swap', 'insert'),
  line: fc.nat(),
  at: fc.nat(),
  value: fc.constantFrom(...odd),
  text: fc.string({ unit: 'binary', maxLength: 20 }),
});

type Garbling = typeof garbling extends fc.Arbitrary<infer T> ? T : never;

function garble(lines: readonly string[], { how, line: n, at, value, text }: Garbling): readonly string[] {
  const i = n % Math.max(1, lines.length);
  const line = lines[i] ?? '';
  const offset = at % (line.length + 1);
  switch (how) {
    case 'cut':
      return lines.with(i, line.slice(0, offset));
    case 'splice':
      return lines.with(i, line.slice(0, offset) + text + line.slice(offset + text.length));
    case 'repeat':
      return lines.toSpliced(i, 0, line);
    case 'swap':
      return lines.toSpliced(i, 1).toSpliced(at % lines.length, 0, line);
    case 'insert':
      return lines.toSpliced(i, 0, at % 2 === 0 ? text : JSON.stringify(value));
    case 'value': {
      const event = parseRecord(line);
      const paths = event === undefined ? [] : [...pathsIn(event)];
      const path = paths[at % Math.max(1, paths.length)];
      return path === undefined ? lines : lines.with(i, JSON.stringify(replaceAt(event, path, value)));
    }
  }
}

type Path = readonly (string | number)[];

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* pathsIn(child, [...path, key]);
}

function* stringsIn(value: unknown, path: Path = []): Generator<{ path: Path; value: string }> {
  if (typeof value === 'string') yield { path, value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* stringsIn(child, [...path, key]);
}

function replaceAt(value: unknown, path: Path, next: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return next;
  const replaced = Object.entries(value).map(([name, child]) => [
    name,
    name === String(key) ? replaceAt(child, rest, next) : child,
  ]);
  return Array.isArray(value) ? replaced.map(([, child]) => child) : Object.fromEntries(replaced);
}

/** Whether every field has the type it promises, whatever the line was. */
function isSound(event: AgentEvent): boolean {
  switch (event.type) {
    case 'session':
      return isText(event.id) && (event.model === undefined || isText(event.model));
    case 'text':
    case 'notice':
    case 'subagent':
      return isText(event.text);
    case 'tool-start':
      return (
        isText(event.id) &&
        isText(event.name) &&
        isText(event.summary) &&
        /^[^\n\r]{0,200}$/.test(event.summary)
      );
    case 'retract':
      return isCount(event.blocks);
    case 'tool-end':
      return isText(event.id) && isText(event.output) && (event.exitCode ?? 0) % 1 === 0;
    case 'todo':
      return event.items.every(
        ({ text, status }) => isText(text) && ['pending', 'active', 'done'].includes(status),
      );
    case 'usage':
      return isUsage(event.usage);
    case 'context':
      return isCount(event.size.tokens) && isCount(event.size.window ?? 0);
    case 'error':
      return isText(event.message) && isCount(event.limit?.resetsAt ?? 0);
    case 'result':
      return isCount(event.limit?.resetsAt ?? 0) && (event.usage === undefined || isUsage(event.usage));
    case 'unknown':
      return isText(event.name);
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isUsage({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costUsd = 0,
}: Usage): boolean {
  return [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd].every(isCount);
}

function isCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

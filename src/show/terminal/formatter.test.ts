import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../agents/adapter.ts';
import { createFormatter, type FormatterOptions } from './formatter.ts';
import { createStyle } from './style.ts';

const emoji = createStyle({ env: {}, isTTY: false });
const ascii = createStyle({ env: { NO_EMOJI: '1' }, isTTY: false });

function render(events: readonly AgentEvent[], options: Partial<FormatterOptions> = {}): string {
  let out = '';
  const formatter = createFormatter({
    style: emoji,
    now: () => 0,
    ...options,
    write: (text) => {
      out += text;
    },
  });
  for (const event of events) formatter.event(event);
  formatter.end();
  return out;
}

const start = (id: string, name: string, summary = ''): AgentEvent => ({
  type: 'tool-start',
  id,
  name,
  summary,
});
const end = (id: string, output: string, ok = true): AgentEvent => ({ type: 'tool-end', id, ok, output });
const text = (text: string): AgentEvent => ({ type: 'text', text });
const delta = (text: string): AgentEvent => ({ type: 'text', text, delta: true });

describe('the example of the specification', () => {
  const blankLines = 1234 - 'package main\n'.length - 43;
  const file = `package main\n${'\n'.repeat(43)}${' '.repeat(blankLines)}`;
  const busy = Array.from({ length: 57 }, (_, n): AgentEvent[] => [
    start(`t${n}`, 'Bash'),
    end(`t${n}`, 'x', n >= 4),
  ]).flat();
  const events: AgentEvent[] = [
    start('a', 'Read', '/path/to/file.go'),
    end('a', file),
    {
      type: 'todo',
      items: [
        { text: 'Read the file', status: 'done' },
        { text: 'Edit the code', status: 'active' },
        { text: 'Run tests', status: 'pending' },
      ],
    },
  ];
  const result: AgentEvent = {
    type: 'result',
    ok: true,
    usage: {
      inputTokens: 300_000,
      cacheReadTokens: 850_000,
      cacheWriteTokens: 50_000,
      outputTokens: 45_000,
      costUsd: 5.76,
    },
  };
  const figures = 'cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s';

  it('looks to the letter as it says', () => {
    expect(render(events)).toBe(`⏺ Read(/path/to/file.go)
✅ Result ← Read (45 lines, 1234 chars)
  ⎿  package main

📋 Todo List
  ✅ Read the file
  🔄 Edit the code ← ACTIVE
  ⏸️ Run tests
  📊 Progress: 1/3 (33%)
`);
  });

  it('has text markers where there are no emoji', () => {
    expect(render(events, { style: ascii })).toBe(`* Read(/path/to/file.go)
[OK] Result <- Read (45 lines, 1234 chars)
  >  package main

[TODO] Todo List
  [OK] Read the file
  [>] Edit the code <- ACTIVE
  [ ] Run tests
  [%] Progress: 1/3 (33%)
`);
  });

  it.each([
    ['emoji', emoji, '✅'],
    ['text', ascii, '[OK]'],
  ])('sums the turn up in %s', (_name, style, mark) => {
    let clock = 0;
    const written: string[] = [];
    const formatter = createFormatter({
      style,
      now: () => clock,
      write: (out) => void written.push(out),
    });
    for (const event of [...events, ...busy]) formatter.event(event);
    clock = 367_000;
    formatter.event(result);
    expect(written.at(-1)).toBe(`\n${mark} Complete (${figures})\n`);
  });
});

describe('text', () => {
  it('joins deltas as they come, with a blank line between blocks', () => {
    const events = [delta('Hel'), delta('lo\n'), delta('world'), text('Next'), delta(' one.')];
    expect(render(events)).toBe('Hello\nworld\n\nNext one.\n');
  });

  it('is written as soon as it is there', () => {
    const written: string[] = [];
    const formatter = createFormatter({ style: emoji, now: () => 0, write: (out) => void written.push(out) });
    formatter.event(delta('Hel'));
    formatter.event(delta('lo'));
    expect(written).toEqual(['Hel', 'lo']);
  });

  it('has no blank lines of its own at the beginning and the end', () => {
    expect(render([text('\n\nHello\n\n'), start('a', 'Bash', 'ls'), text('\n')])).toBe(
      'Hello\n\n⏺ Bash(ls)\n',
    );
  });

  it('keeps the blank lines within, however they are cut', () => {
    expect(render([delta('a\n'), delta('\n'), delta('\nb')])).toBe('a\n\n\nb\n');
  });

  it('is not broken up by usage and unknown events', () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const events = [
      delta('one '),
      { type: 'usage', usage },
      { type: 'unknown', name: 'x' },
      delta('two'),
    ] as const;
    expect(render(events)).toBe('one two\n');
  });

  it('ends its line for somebody else, and goes on with another', () => {
    let out = '';
    const write = (text: string) => {
      out += text;
    };
    const formatter = createFormatter({ style: emoji, now: () => 0, write });
    formatter.event(delta('one\n'));
    formatter.endLine();
    expect(out).toBe('one\n');
    formatter.event(delta('two'));
    formatter.end();
    expect(out).toBe('one\n\ntwo\n');
  });

  it('looks the same however its deltas are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', ' ', '\n', '\r', '\x1b]0;t', '\x07', '\x1b[1m', '\u202e', '😀'), {
          maxLength: 20,
        }),
        fc.nat(),
        (pieces, at) => {
          const whole = pieces.join('');
          const cut = at % (whole.length + 1);
          expect(render([delta(whole.slice(0, cut)), delta(whole.slice(cut))])).toBe(render([delta(whole)]));
        },
      ),
    );
  });
});

describe('tools', () => {
  it('are told apart when they run side by side and finish out of order', () => {
    const events = [
      start('1', 'Read', 'a.ts'),
      start('2', 'Bash', 'npm test'),
      start('3', 'Grep', 'foo'),
      { type: 'tool-end', id: '2', ok: false, exitCode: 3, output: 'boom' } as const,
      end('3', 'two\nlines\n'),
      end('1', ''),
    ];
    expect(render(events)).toBe(`⏺ Read(a.ts)
⏺ Bash(npm test)
⏺ Grep(foo)
❌ Error ← Bash (exit 3)
  ⎿  boom
✅ Result ← Grep (2 lines, 10 chars)
  ⎿  two
     lines
✅ Result ← Read (no output)
`);
  });

  it('show the size of an error that has no exit code, and a name for a call nobody saw begin', () => {
    expect(render([end('x', 'not found', false)])).toBe(
      '❌ Error ← tool (1 line, 9 chars)\n  ⎿  not found\n',
    );
  });

  it('show the first lines that hold something, and how many more there are', () => {
    const output = '\none\n\n  two\nthree\nfour\nfive\n\n';
    expect(render([start('a', 'Bash', 'x'), end('a', output)])).toBe(`⏺ Bash(x)
✅ Result ← Bash (8 lines, 29 chars)
  ⎿  one
       two
     three
     … +3 lines
`);
    expect(render([end('a', 'one\ntwo')], { style: ascii, maxOutput: { lines: 1 } })).toBe(
      '[OK] Result <- tool (2 lines, 7 chars)\n  >  one\n     ... +1 line\n',
    );
  });

  it('count a large output, and clean what they show of it', () => {
    const output = `\x1b[31mred\x1b[0m\n${'line\n'.repeat(5000)}`;
    const out = render([end('a', output)], { maxOutput: { lines: 2 } });
    expect(out).toContain('(5001 lines, 25013 chars)');
    expect(out).toContain('  ⎿  red\n     line\n     … +4999 lines\n');
    expect(render([end('a', `${'\x1b[2J\n'.repeat(3000)}end`)])).not.toContain('\x1b');
  });

  it('cut a long line without halving a character', () => {
    const output = `${'x'.repeat(9)}😀😀\nmore`;
    expect(render([end('a', output)], { maxOutput: { chars: 10 } })).toBe(
      `✅ Result ← tool (2 lines, 18 chars)\n  ⎿  ${'x'.repeat(9)}…\n     … +1 line\n`,
    );
  });

  it('show no output at all when asked for none', () => {
    expect(render([end('a', 'one\ntwo')], { maxOutput: { lines: 0 } })).toBe(
      '✅ Result ← tool (2 lines, 7 chars)\n',
    );
  });

  it('put a command of many lines on one', () => {
    expect(render([start('a', 'Bash', 'cat <<E\nhi\nE')])).toBe('⏺ Bash(cat <<E hi E)\n');
  });
});

describe('the other events', () => {
  it('take one line each', () => {
    const events: AgentEvent[] = [
      { type: 'session', id: 'abc', model: 'opus' },
      { type: 'notice', text: 'close to\nthe limit' },
      { type: 'error', message: '529 overloaded' },
      start('a', 'Task', 'look around'),
      { type: 'subagent', text: 'Grep foo' },
    ];
    expect(render(events)).toBe(
      'Session abc (opus)\nclose to the limit\n❌ 529 overloaded\n\n⏺ Task(look around)\n  Grep foo\n',
    );
  });

  it('tell why a turn failed, and only the figures that are known', () => {
    expect(render([text('Hm.'), { type: 'result', ok: false, error: 'API Error: 500' }])).toBe(
      'Hm.\n\n❌ Failed: API Error: 500 (tools: 0, errors: 0, time: 0ms)\n',
    );
  });

  it('add up usage where the stream gives no total, and mark a cost of our own', () => {
    const usage = { inputTokens: 600, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const events: AgentEvent[] = [
      { type: 'usage', usage },
      { type: 'usage', usage: { ...usage, costUsd: 0.5, estimated: true } },
      { type: 'result', ok: true },
    ];
    expect(render(events)).toBe(
      '✅ Complete (cost: $0.50 (est), tokens: 1.2K in / 20 out, tools: 0, errors: 0, time: 0ms)\n',
    );
  });

  it('begin anew after the end of a turn: counts, and calls that never finished', () => {
    const written: string[] = [];
    const formatter = createFormatter({ style: emoji, now: () => 0, write: (out) => void written.push(out) });
    formatter.event(start('a', 'Bash'));
    formatter.end();
    formatter.event(end('a', ''));
    formatter.event({ type: 'result', ok: true });
    expect(written).toEqual([
      '⏺ Bash\n',
      '✅ Result ← tool (no output)\n',
      '\n✅ Complete (tools: 0, errors: 0, time: 0ms)\n',
    ]);
  });
});

describe('a result after which the agent may go on', () => {
  const more: AgentEvent = { type: 'result', ok: true, more: true };

  it('is shown once, at the end', () => {
    expect(render([text('One.'), more, text('Two.'), more]).match(/Complete/g)).toHaveLength(1);
    expect(render([text('One.'), more, { type: 'result', ok: true }]).match(/Complete/g)).toHaveLength(1);
  });
});

describe('an error', () => {
  it('is not told again by the result', () => {
    const out = render([
      { type: 'error', message: 'No such file' },
      { type: 'result', ok: false, error: 'No such file' },
    ]);
    expect(out.match(/No such file/g)).toHaveLength(1);
    expect(out).toContain('Failed (');
  });

  it('that is a limit is left to the loop, but for an overload', () => {
    const limited = (kind: 'usage' | 'overload'): AgentEvent[] => [
      { type: 'error', message: 'Later', limit: { kind } },
      { type: 'result', ok: false, error: 'Later' },
    ];
    expect(render(limited('usage'))).not.toContain('Later');
    expect(render(limited('overload')).match(/Later/g)).toHaveLength(1);
  });
});

describe('hostile output', () => {
  const attack = '\x1b]52;c;cm0=\x07\x1b[2J\x9b31m\u202egnp.exe\x00\r\x1b[1A';
  const events: AgentEvent[] = [
    { type: 'session', id: attack, model: attack },
    text(attack),
    start('a', attack, attack),
    end('a', attack),
    { type: 'todo', items: [{ text: attack, status: 'active' }] },
    { type: 'notice', text: attack },
    { type: 'error', message: attack },
    { type: 'subagent', text: attack },
    { type: 'result', ok: false, error: `again ${attack}` },
  ];

  it('reaches the terminal as plain text, wherever it comes from', () => {
    const out = render(events);
    expect(out).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(out.match(/gnp\.exe/g)).toHaveLength(12);
  });

  it('is let through where raw output is asked for', () => {
    expect(render([text('\x1b[31mred\x1b[0m')], { raw: true })).toBe('\x1b[31mred\x1b[0m\n');
  });
});

describe('timestamps', () => {
  it('stand before each line that is not empty, text that comes in pieces included', () => {
    const at = new Date(2026, 0, 2, 3, 4, 5).getTime();
    const events = [delta('one\nt'), delta('wo\n\nthree'), start('a', 'Bash', 'ls')];
    expect(render(events, { timestamps: true, now: () => at })).toBe(
      '[03:04:05] one\n[03:04:05] two\n\n[03:04:05] three\n\n[03:04:05] ⏺ Bash(ls)\n',
    );
  });
});

describe('colour', () => {
  it('closes on the line on which it opens', () => {
    const style = createStyle({ env: { FORCE_COLOR: '1' }, isTTY: false });
    const lines = render([start('a', 'Bash', 'x'), end('a', 'one\ntwo'), end('b', 'no', false)], { style });
    expect(lines).toContain('\x1b[32m✅ Result\x1b[39m ← Bash');
    for (const line of lines.split('\n')) {
      // Every colour that is switched on is switched off.
      expect(line.split('\x1b[').length % 2).toBe(1);
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { Usage } from '../core/turn.ts';
import type { AgentAdapter, AgentEvent } from './adapter.ts';
import { createTurnReader, type EndCause } from './turn.ts';

/** Test adapter whose lines already are agent events. */
const plain: AgentAdapter = {
  name: 'plain',
  login: null,
  guard: null,
  install: '',
  reportsToolCalls: true,
  permits: {},
  canResume: false,
  takesSystemPrompt: false,
  tested: [],
  command: () => ({ args: [], stdin: null, env: {} }),
  newState: () => ({}),
  parse: (line) => JSON.parse(line),
};

const usage: Usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
const text: AgentEvent = { type: 'text', text: 'Hello.' };
const tool: AgentEvent = { type: 'tool-start', id: '1', name: 'Bash', summary: 'ls' };
const overloaded: AgentEvent = { type: 'error', message: '529', limit: { kind: 'overload' } };
const good: AgentEvent = { type: 'result', ok: true };
const bad: AgentEvent = { type: 'result', ok: false, error: 'broke' };
const limited: AgentEvent = {
  type: 'result',
  ok: false,
  error: '429',
  limit: { kind: 'usage', resetsAt: 9 },
};

function turn(
  events: AgentEvent[],
  exitCode: number | null = 0,
  cause: EndCause = 'exited',
  adapter = plain,
) {
  const reader = createTurnReader(adapter);
  for (const event of events) reader.push(JSON.stringify([event]));
  return reader.finish({ exitCode, cause });
}

describe('how a turn ended', () => {
  it.each<[string, AgentEvent[], number | null, EndCause, string]>([
    ['a good result', [text, good], 0, 'exited', 'finished'],
    ['a good result after which we ended the process', [text, good], null, 'finished', 'finished'],
    [
      'a good result of a process that lingered into a timeout',
      [text, good],
      143,
      'hard-timeout',
      'finished',
    ],
    ['a good result and a failing exit code', [text, good], 1, 'exited', 'failed'],
    ['a good result and death by a signal', [text, good], null, 'exited', 'failed'],
    ['a bad result', [text, bad], 0, 'exited', 'failed'],
    ['a bad result with a limit', [limited], 1, 'exited', 'limited'],
    ['a bad result after an error with a limit', [overloaded, bad], 1, 'exited', 'limited'],
    ['a bad result after a limit that was overcome', [overloaded, text, bad], 1, 'exited', 'failed'],
    ['a bad result after a limit that a tool call overcame', [overloaded, tool, bad], 1, 'exited', 'failed'],
    ['a bad result because we stopped it', [text, bad], 0, 'stopped', 'aborted'],
    ['no result and silence', [text], null, 'idle', 'inactive'],
    ['no result in time', [text], null, 'hard-timeout', 'timed-out'],
    ['no result because we stopped it', [text], null, 'stopped', 'aborted'],
    ['no result because it never started', [], null, 'not-started', 'failed'],
    ['no result and a limit', [overloaded], 0, 'exited', 'limited'],
    ['no result but text', [text], 0, 'exited', 'failed'],
    ['no result but a tool call', [tool], 0, 'exited', 'failed'],
    ['nothing at all', [], 0, 'exited', 'empty'],
    ['nothing at all and a failing exit code', [], 1, 'exited', 'failed'],
  ])('%s', (_, events, exitCode, cause, end) => {
    expect(turn(events, exitCode, cause).end).toBe(end);
  });

  it('is good after a good result where the exit code means nothing', () => {
    const noisy: AgentAdapter = { ...plain, exitCodeIsNoise: true };
    expect(turn([text, good], 1, 'exited', noisy).end).toBe('finished');
    expect(turn([text, bad], 0, 'exited', noisy).end).toBe('failed');
  });

  it('is good after text and a clean exit where the stream has no result', () => {
    const silent: AgentAdapter = { ...plain, endsWithoutResult: true };
    expect(turn([text], 0, 'exited', silent).end).toBe('finished');
    expect(turn([text], 1, 'exited', silent).end).toBe('failed');
    expect(turn([text], null, 'idle', silent).end).toBe('inactive');
  });

  it('is what the last result says', () => {
    expect(turn([{ ...good, more: true }, text, bad]).end).toBe('failed');
  });

  it('is good after a result that announced more, unless more began and had no result', () => {
    const announced: AgentEvent = { ...good, more: true };
    expect(turn([text, announced], null, 'idle').end).toBe('finished');
    expect(turn([text, announced, text], null, 'idle').end).toBe('inactive');
    expect(turn([text, announced, tool]).end).toBe('failed');
  });
});

describe('why a turn failed', () => {
  it("is told in the agent's own words first", () => {
    const reader = createTurnReader(plain);
    reader.push(JSON.stringify([{ type: 'error', message: 'retry 1 of 3' }, bad]));
    expect(reader.finish({ exitCode: 1, cause: 'exited', stderrTail: 'trace' }).error).toBe('broke');
  });

  it.each<[AgentEvent[], string | undefined, number | null, EndCause, string]>([
    [[overloaded], undefined, 1, 'exited', '529'],
    [[text], ' out of memory\n', 1, 'exited', 'out of memory'],
    [[text], '', 7, 'exited', 'exited with code 7'],
    [[text], undefined, null, 'exited', 'exited with a signal'],
    [[text], undefined, 0, 'exited', 'ended without a result'],
    [[text], undefined, null, 'idle', 'it was silent for longer than the idle time-out (idleTimeout)'],
    [[], undefined, null, 'not-started', 'could not be started'],
    [[{ type: 'result', ok: false }], undefined, 0, 'exited', 'reported a failure without saying why'],
  ])('%j with %j and exit code %s (%s) is "%s"', (events, stderrTail, exitCode, cause, error) => {
    const reader = createTurnReader(plain);
    for (const event of events) reader.push(JSON.stringify([event]));
    const end = { exitCode, cause, ...(stderrTail === undefined ? {} : { stderrTail }) };
    expect(reader.finish(end).error).toBe(error);
  });

  it('is not told of a turn that did not fail', () => {
    expect(turn([{ type: 'error', message: 'retry' }, text, good])).not.toHaveProperty('error');
    expect(turn([overloaded, good])).not.toHaveProperty('limit');
  });
});

describe('what a turn holds', () => {
  it('adds up usage, unless the result gives the total', () => {
    const told: AgentEvent = { type: 'usage', usage };
    expect(turn([told, told, good]).usage).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      cacheReadTokens: 6,
      cacheWriteTokens: 8,
    });
    expect(turn([told, told, { ...good, usage }]).usage).toEqual(usage);
    expect(turn([good])).not.toHaveProperty('usage');
  });

  it('counts tool calls where the agent reports them', () => {
    expect(
      turn([tool, { type: 'tool-end', id: '1', ok: true, output: '' }, { ...tool, id: '2' }]).toolCalls,
    ).toBe(2);
    expect(turn([tool], 0, 'exited', { ...plain, reportsToolCalls: false }).toolCalls).toBeNull();
  });

  it('takes only text events for text', () => {
    const others: AgentEvent[] = [
      { type: 'subagent', text: 'no' },
      { type: 'notice', text: 'no' },
      { type: 'tool-end', id: '1', ok: true, output: 'no' },
      { type: 'todo', items: [{ text: 'no', status: 'done' }] },
    ];
    expect(turn([text, ...others, good]).text).toEqual(['Hello.']);
  });

  it('leaves out what the agent took back, and the result with it', () => {
    const summary: AgentEvent = { type: 'text', text: '<promise>DONE</promise>' };
    const went = [text, summary, good, { type: 'retract', blocks: 1 } as const];
    expect(turn(went)).toMatchObject({ text: ['Hello.'], end: 'failed', ended: false });
    expect(turn([...went, good])).toMatchObject({ text: ['Hello.'], end: 'finished', ended: true });
  });

  it('keeps the session of the agent', () => {
    expect(turn([{ type: 'session', id: 's1' }, { type: 'session', id: 's2' }, good]).sessionId).toBe('s2');
    expect(turn([good])).not.toHaveProperty('sessionId');
  });

  it('counts unknown events by name, and not without end', () => {
    const names = ['__proto__', 'a', 'a', ...Array.from({ length: 500 }, (_, i) => `n${i}`)];
    const { unknown } = turn(names.map((name) => ({ type: 'unknown', name })));
    expect(unknown.a).toBe(2);
    expect(Object.entries(unknown)).toContainEqual(['__proto__', 1]);
    expect(Object.keys(unknown)).toHaveLength(100);
  });

  it('gives the parser the clock, where there is one', () => {
    const clocked: AgentAdapter = {
      ...plain,
      parse: (_, { now }) => [{ type: 'notice', text: String(now) }],
    };
    expect(createTurnReader(clocked, { now: () => 42 }).push('')).toEqual([{ type: 'notice', text: '42' }]);
    expect(createTurnReader(clocked).push('')).toEqual([{ type: 'notice', text: 'undefined' }]);
  });

  it('has ended with a result, unless more is to come', () => {
    const reader = createTurnReader(plain);
    reader.push(JSON.stringify([text]));
    expect(reader.ended).toBe(false);
    reader.push(JSON.stringify([{ ...good, more: true }]));
    expect(reader.ended).toBe(false);
    reader.push(JSON.stringify([good]));
    expect(reader.ended).toBe(true);
  });
});

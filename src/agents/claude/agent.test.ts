import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { claude } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

describe('the claude stream', () => {
  it('tells the fullest context of the agent itself, without subagents, and the window of its model', () => {
    const reader = createTurnReader(claude);
    const message = (input: number, parent: string | null) =>
      JSON.stringify({
        type: 'assistant',
        parent_tool_use_id: parent,
        message: {
          model: 'big',
          content: [{ type: 'text', text: 'x' }],
          usage: { input_tokens: input, cache_read_input_tokens: 1000, cache_creation_input_tokens: 10 },
        },
      });
    reader.push(message(5, null));
    reader.push(message(90, null));
    reader.push(message(1, null));
    reader.push(message(9999, 'toolu_1'));
    const modelUsage = { small: { contextWindow: 1 }, big: { contextWindow: 200_000 } };
    reader.push(JSON.stringify({ type: 'result', subtype: 'success', modelUsage }));
    const { context } = reader.finish({ exitCode: 0, cause: 'exited' });
    expect(context).toEqual({ tokens: 1100, window: 200_000 });
  });

  it('goes on after a result that came while work ran in the background', () => {
    const reader = createTurnReader(claude);
    const ended = read('2.1.325-background')
      .trim()
      .split('\n')
      .map((line) => ({
        result: reader.push(line).some((event) => event.type === 'result'),
        ended: reader.ended,
      }))
      .filter(({ result }) => result);
    expect(ended).toEqual([
      { result: true, ended: false },
      { result: true, ended: true },
    ]);
  });

  it('takes the answer from the result where no message held words', () => {
    const answered = (...lines: string[]) => {
      const reader = createTurnReader(claude);
      for (const line of lines) reader.push(line);
      return reader.finish({ exitCode: 0, cause: 'exited' }).text;
    };
    const call =
      '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}';
    const words = '{"type":"assistant","message":{"content":[{"type":"text","text":"Two."}]}}';
    expect(answered(call, '{"type":"result","result":"One."}')).toEqual(['One.']);
    expect(answered(words, '{"type":"result","result":"Two."}')).toEqual(['Two.']);
    expect(answered(call, '{"type":"result","is_error":true,"result":"Broken."}')).toEqual([]);
  });

  it('goes on after a result while messages are queued', () => {
    const reader = createTurnReader(claude);
    reader.push('{"type":"result","is_error":false,"result":"One.","queued_turn_count":1}');
    expect(reader.ended).toBe(false);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).end).toBe('finished');
  });

  it('tells the reset time in the words of version 1', () => {
    const [result] = claude.parse(
      '{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|1749924000"}',
      claude.newState(),
    );
    expect(result).toMatchObject({ ok: false, limit: { kind: 'usage', resetsAt: 1_749_924_000_000 } });
  });

  it.each([
    ["You're out of extra usage · resets 9pm (UTC)", Date.UTC(2026, 10, 18, 21)],
    ["You've hit your session limit · resets 3pm (UTC)", Date.UTC(2026, 10, 18, 15)],
  ])('reads the reset time in %s', (text, resetsAt) => {
    const reader = createTurnReader(claude, { now: () => Date.UTC(2026, 10, 18, 12) });
    const message = { model: '<synthetic>', content: [{ type: 'text', text }] };
    const error = { error: 'rate_limit', api_error_status: 429 };
    reader.push(JSON.stringify({ type: 'assistant', message, ...error }));
    reader.push(JSON.stringify({ type: 'result', is_error: true, result: text, api_error_status: 429 }));
    const { end, limit } = reader.finish({ exitCode: 1, cause: 'exited' });
    expect({ end, limit }).toEqual({ end: 'limited', limit: { kind: 'usage', resetsAt, message: text } });
  });

  it('fails where nobody listens at the address of the API, and calls that no limit', () => {
    const reader = createTurnReader(claude);
    const text = 'API Error: Unable to connect to API (ConnectionRefused)';
    const message = { model: '<synthetic>', content: [{ type: 'text', text }] };
    reader.push('{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"error":"unknown"}');
    reader.push(JSON.stringify({ type: 'assistant', message, error: 'server_error' }));
    reader.push(JSON.stringify({ type: 'result', is_error: true, result: text }));
    const { end, limit, error } = reader.finish({ exitCode: 1, cause: 'exited' });
    expect({ end, limit, error }).toEqual({ end: 'failed', limit: undefined, error: text });
  });

  it('knows the start of a session without a subtype', () => {
    const events = claude.parse('{"type":"system","session_id":"s1"}', claude.newState());
    expect(events).toEqual([{ type: 'session', id: 's1' }]);
  });

  it('tells a limit that an older version only put into words of its own', () => {
    const reader = createTurnReader(claude);
    const message = {
      model: '<synthetic>',
      content: [{ type: 'text', text: 'Invalid API key · Please run /login' }],
    };
    reader.push(JSON.stringify({ type: 'assistant', message, parent_tool_use_id: null }));
    reader.push(
      '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}',
    );
    expect(reader.finish({ exitCode: 1, cause: 'exited' })).toMatchObject({
      text: [],
      end: 'limited',
      limit: { kind: 'auth' },
    });
  });

  it('never takes a limit from the words of the agent', () => {
    const reader = createTurnReader(claude);
    reader.push(
      assistantSays('The API said: usage limit reached|1749924000, 429 rate limit, please log in.'),
    );
    reader.push(
      '{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns"]}',
    );
    const turn = reader.finish({ exitCode: 1, cause: 'exited' });
    expect(turn).toMatchObject({ end: 'failed', error: 'Reached maximum number of turns' });
    expect(turn.limit).toBeUndefined();
  });

  it('forgets a limit that was overcome', () => {
    const reader = createTurnReader(claude);
    const [rateLimit = '', apiError = ''] = read('2.1.325-plan-limit').split('\n').slice(1);
    expect(reader.push(rateLimit)).toMatchObject([{ type: 'error', limit: { kind: 'usage' } }]);
    expect(reader.push(apiError)).toMatchObject([{ type: 'error', limit: { kind: 'usage' } }]);
    reader.push(assistantSays('On we go.'));
    reader.push('{"type":"result","is_error":true,"subtype":"error_during_execution"}');
    expect(reader.finish({ exitCode: 1, cause: 'exited' }).limit).toBeUndefined();
  });

  it('keeps the limit of a retry that never ended', () => {
    const reader = createTurnReader(claude);
    reader.push(
      '{"type":"system","subtype":"api_retry","attempt":4,"max_retries":10,"error_status":529,"error":"overloaded"}',
    );
    const turn = reader.finish({ exitCode: null, cause: 'idle' });
    expect(turn).toMatchObject({ end: 'inactive', limit: { kind: 'overload' } });
  });

  it('updates, renames and deletes tasks', () => {
    const reader = createTurnReader(claude);
    const todo = [
      ['TaskCreate', { subject: 'a' }, { task: { id: '1' } }],
      ['TaskCreate', { subject: 'b' }, { task: { id: '2' } }],
      ['TaskUpdate', { taskId: '2', subject: 'c' }, { success: true }],
      ['TaskUpdate', { taskId: '2', status: 'completed' }, { success: true }],
      ['TaskUpdate', { taskId: '9', status: 'completed' }, { success: false }],
      ['TaskUpdate', { taskId: '1', status: 'deleted' }, { success: true }],
    ].flatMap(([name, input, result], id) => [
      ...reader.push(
        JSON.stringify({
          type: 'assistant',
          message: { content: [{ type: 'tool_use', id: `t${id}`, name, input }] },
        }),
      ),
      ...reader.push(
        JSON.stringify({
          type: 'user',
          message: { content: [{ type: 'tool_result', tool_use_id: `t${id}` }] },
          tool_use_result: result,
        }),
      ),
    ]);
    const lists = todo.filter((event) => event.type === 'todo').map(({ items }) => items);
    expect(lists.at(1)).toEqual([
      { text: 'a', status: 'pending' },
      { text: 'b', status: 'pending' },
    ]);
    expect(lists.at(-1)).toEqual([{ text: 'c', status: 'done' }]);
    expect(lists).toHaveLength(5);
  });

  it('counts event types that it does not know', () => {
    const reader = createTurnReader(claude);
    for (const line of ['{"type":"hologram"}', '{"type":"system","subtype":"smell"}', '{"type":"hologram"}'])
      reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).unknown).toEqual({
      hologram: 2,
      'system/smell': 1,
    });
  });

  it('shows a line that is not JSON', () => {
    expect(claude.parse('(node:1) Warning: old', claude.newState())).toEqual([
      { type: 'notice', text: '(node:1) Warning: old' },
    ]);
  });
});

describe('the claude command', () => {
  const task: AgentTask = { prompt: '-do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt on standard input and the contract in the system prompt', () => {
    expect(
      claude.command({ ...task, systemPrompt: 'Say so.', flags: ['--model', 'opus'] }, null, 'stream'),
    ).toEqual({
      args: [
        '-p',
        '--output-format',
        'stream-json',
        '--verbose',
        '--dangerously-skip-permissions',
        '--append-system-prompt',
        'Say so.',
        '--model',
        'opus',
      ],
      stdin: '-do it',
      env: {},
    });
  });

  it('gives only the last answer in text mode', () => {
    expect(claude.command({ ...task, permissions: 'read' }, '2.1.197', 'text').args).toEqual([
      '-p',
      '--output-format',
      'text',
      '--permission-mode',
      'plan',
    ]);
  });

  it('resumes a session', () => {
    expect(claude.command({ ...task, resumeSession: 'abc' }, null, 'stream').args.slice(-2)).toEqual([
      '--resume',
      'abc',
    ]);
  });

  it('says that it is in a sandbox when root skips permissions, and only then', () => {
    const asRoot = { ...task, asRoot: true };
    expect(claude.command(asRoot, null, 'stream').env).toEqual({ IS_SANDBOX: '1' });
    expect(claude.command({ ...asRoot, permissions: 'edit' }, null, 'stream').env).toEqual({});
  });

  it("leaves the permission mode to the user's flags where they name one", () => {
    const { args } = claude.command({ ...task, flags: ['--permission-mode', 'plan'] }, null, 'stream');
    expect(args).not.toContain('--dangerously-skip-permissions');
    expect(args.slice(-2)).toEqual(['--permission-mode', 'plan']);
  });
});

function assistantSays(text: string): string {
  return JSON.stringify({
    type: 'assistant',
    message: { content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
  });
}

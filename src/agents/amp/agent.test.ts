import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { amp } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

describe('the amp stream', () => {
  it('gives the output of a command without its wrapping', () => {
    const reader = createTurnReader(amp);
    const ends = read('0.0.1769314944-tool-error')
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => reader.push(line))
      .filter((event) => event.type === 'tool-end');
    expect(ends).toMatchObject([{ ok: false, exitCode: 3, output: 'out-line\nerr-line\n' }]);
  });

  it('tells the message of an API error without its wrapping', () => {
    const reader = createTurnReader(amp);
    for (const line of read('0.0.1769314944-err-400').trim().split('\n')) reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).error).toBe('mock: prompt is bad');
  });

  it('counts a good result although the process exits with 1', () => {
    const reader = createTurnReader(amp);
    for (const line of read('0.0.1769314944-text').trim().split('\n')) reader.push(line);
    expect(reader.finish({ exitCode: 1, cause: 'exited' }).end).toBe('finished');
  });

  it('takes the answer from the result where no message held words', () => {
    const answered = (...lines: string[]) => {
      const reader = createTurnReader(amp);
      for (const line of lines) reader.push(line);
      return reader.finish({ exitCode: 0, cause: 'exited' }).text;
    };
    const words = '{"type":"assistant","message":{"content":[{"type":"text","text":"Two."}]}}';
    expect(answered('{"type":"result","subtype":"success","result":"One."}')).toEqual(['One.']);
    expect(answered(words, '{"type":"result","subtype":"success","result":"Two."}')).toEqual(['Two.']);
    expect(answered('{"type":"result","is_error":true,"result":"Broken."}')).toEqual([]);
  });

  it('believes the figures of a result that has some', () => {
    const reader = createTurnReader(amp);
    reader.push('{"type":"assistant","message":{"content":[],"usage":{"input_tokens":5,"output_tokens":2}}}');
    reader.push('{"type":"result","subtype":"success","usage":{"input_tokens":100,"output_tokens":50}}');
    const { usage } = reader.finish({ exitCode: 0, cause: 'exited' });
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 50 });
  });

  it('shows what a subagent does, and adds only its tokens', () => {
    const reader = createTurnReader(amp);
    const events = reader.push(
      JSON.stringify({
        type: 'assistant',
        parent_tool_use_id: 'toolu_1',
        message: {
          content: [
            { type: 'text', text: '<promise>DONE</promise>' },
            { type: 'tool_use', id: 'a', name: 'Bash', input: { cmd: 'ls' } },
          ],
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      }),
    );
    expect(events.slice(0, 2)).toEqual([
      { type: 'subagent', text: '<promise>DONE</promise>' },
      { type: 'subagent', text: 'Bash ls' },
    ]);
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({
      text: [],
      toolCalls: 0,
      usage: { inputTokens: 5, outputTokens: 1 },
    });
  });
});

describe('the amp command', () => {
  const task: AgentTask = { prompt: 'Do it.', permissions: 'full', flags: ['--mode', 'rush'], asRoot: false };

  it('streams, with the prompt on standard input and -x last', () => {
    expect(amp.command(task, null, 'stream')).toEqual({
      args: ['--stream-json', '--dangerously-allow-all', '--mode', 'rush', '-x'],
      stdin: 'Do it.',
      env: {},
    });
  });

  it('gives only the last answer in text mode', () => {
    expect(amp.command(task, null, 'text').args).toEqual(['--dangerously-allow-all', '--mode', 'rush', '-x']);
  });

  it('keeps to its own rules without full permissions', () => {
    for (const permissions of ['edit', 'read'] as const) {
      expect(amp.command({ ...task, permissions }, null, 'stream').args).not.toContain(
        '--dangerously-allow-all',
      );
    }
  });

  it('continues a thread', () => {
    const { args } = amp.command({ ...task, resumeSession: 'T-1' }, null, 'stream');
    expect(args.slice(0, 4)).toEqual(['threads', 'continue', 'T-1', '--stream-json']);
  });
});

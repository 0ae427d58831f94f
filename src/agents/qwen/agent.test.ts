import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { qwen } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

describe('the qwen stream', () => {
  it('tells an API error in its own words', () => {
    const reader = createTurnReader(qwen);
    for (const line of read('0.15.10-err-400').trim().split('\n')) reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).error).toBe('400 mock: prompt is bad');
  });

  it('takes an API error that is only quoted for text', () => {
    const reader = createTurnReader(qwen);
    reader.push(assistantSays('It printed [API Error: 429 slow down] and went on.'));
    reader.push('{"type":"result","subtype":"success","is_error":false}');
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({
      end: 'finished',
      text: ['It printed [API Error: 429 slow down] and went on.'],
    });
  });

  it('forgets an API error that was overcome', () => {
    const reader = createTurnReader(qwen);
    reader.push(assistantSays('[API Error: 429 slow down]'));
    reader.push(assistantSays('On we go.'));
    reader.push('{"type":"result","subtype":"success","is_error":false}');
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({
      end: 'finished',
      text: ['On we go.'],
    });
  });

  it('reads a result that says itself that it failed', () => {
    const line =
      '{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"no model"}}';
    expect(qwen.parse(line, qwen.newState())).toMatchObject([
      { type: 'result', ok: false, error: 'no model' },
    ]);
  });
});

describe('the qwen command', () => {
  const task: AgentTask = { prompt: 'Do it.', permissions: 'full', flags: ['-m', 'max'], asRoot: false };

  it('streams, with the prompt on standard input and the contract in the system prompt', () => {
    expect(qwen.command({ ...task, systemPrompt: 'Say so.' }, null, 'stream')).toEqual({
      args: [
        '-o',
        'stream-json',
        '--approval-mode',
        'yolo',
        '--append-system-prompt',
        'Say so.',
        '-m',
        'max',
      ],
      stdin: 'Do it.',
      env: {},
    });
  });

  it('has a mode for each permission', () => {
    const { args } = qwen.command({ ...task, permissions: 'edit' }, null, 'stream');
    expect(args).toContain('auto-edit');
    expect(qwen.command({ ...task, permissions: 'read' }, null, 'text').args).toEqual([
      '-o',
      'text',
      '--approval-mode',
      'plan',
      '-m',
      'max',
    ]);
  });

  it.each([['-y'], ['--yolo'], ['--approval-mode', 'default'], ['--approval-mode=default']])(
    'leaves the approval mode to the user who says %s',
    (...flags) => {
      expect(qwen.command({ ...task, flags }, null, 'stream').args).toEqual(['-o', 'stream-json', ...flags]);
    },
  );

  it('resumes a session', () => {
    expect(qwen.command({ ...task, resumeSession: 'abc' }, null, 'stream').args).toEqual(
      expect.arrayContaining(['--resume', 'abc']),
    );
  });
});

function assistantSays(text: string): string {
  return JSON.stringify({
    type: 'assistant',
    message: { content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
  });
}

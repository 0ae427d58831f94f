import { describe, expect, it } from 'vitest';
import { createTurnReader } from '../turn.ts';
import { custom } from './agent.ts';

describe('a custom agent', () => {
  it('gets the prompt on standard input and only the flags of the user', () => {
    const task = {
      prompt: 'Do it.',
      systemPrompt: 'unused',
      permissions: 'full',
      flags: ['--fast'],
      asRoot: true,
    } as const;
    expect(custom.command(task, null, 'stream')).toEqual({ args: ['--fast'], stdin: 'Do it.', env: {} });
  });

  it('says all that it prints, line by line, as one text', () => {
    const reader = createTurnReader(custom);
    for (const line of ['Working.', '', '{"type":"result"}', '<promise>DONE</promise>']) reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toEqual({
      text: ['Working.\n\n{"type":"result"}\n<promise>DONE</promise>\n'],
      toolCalls: null,
      end: 'finished',
      exitCode: 0,
      unknown: {},
      failedCalls: 0,
      ended: false,
    });
  });

  it('fails with its exit code, whatever it printed', () => {
    const reader = createTurnReader(custom);
    reader.push('<promise>DONE</promise>');
    expect(reader.finish({ exitCode: 2, cause: 'exited', stderrTail: 'boom\n' })).toMatchObject({
      end: 'failed',
      error: 'boom',
    });
  });

  it('is empty when it prints nothing', () => {
    expect(createTurnReader(custom).finish({ exitCode: 0, cause: 'exited' }).end).toBe('empty');
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { userAgent } from './user-agent.ts';

const task: AgentTask = {
  prompt: 'Do $& {prompt} {{PROMPT}}',
  permissions: 'full',
  flags: ['-q'],
  asRoot: false,
};

describe('an agent from the settings', () => {
  it('gets the prompt on standard input', () => {
    const { args, stdin } = userAgent({ args: ['run'], output: 'text' }).command(task, null, 'stream');
    expect({ args, stdin }).toEqual({ args: ['run', '-q'], stdin: task.prompt });
  });

  it('gets it as a word where the settings say so, as it is', () => {
    const { args, stdin } = userAgent({ args: ['--ask={prompt}', 'x'], output: 'text' }).command(
      task,
      null,
      'stream',
    );
    expect({ args, stdin }).toEqual({ args: [`--ask=${task.prompt}`, 'x', '-q'], stdin: null });
  });

  it("is read as Claude's stream if it speaks that", () => {
    const reader = createTurnReader(userAgent({ args: [], output: 'claude-stream-json' }));
    reader.push(
      '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}',
    );
    reader.push('{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed"}');
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({ toolCalls: 1, end: 'finished' });
  });

  it('is read as plain text otherwise, whose tool calls nobody knows', () => {
    const reader = createTurnReader(userAgent({ args: [], output: 'text' }));
    reader.push('All done.');
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({
      toolCalls: null,
      end: 'finished',
      text: ['All done.\n'],
    });
  });
});

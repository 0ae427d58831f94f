import { describe, expect, it } from 'vitest';
import { deliveryFor } from './delivery.ts';

const how = (command: string, prompt = 'go') => deliveryFor(command.split(' '), prompt);

describe('the prompt', () => {
  it('is an argument of the interactive form of a known agent', () => {
    expect(how('claude --model opus')).toEqual({ how: 'argument', before: [] });
    expect(how('/usr/bin/codex')).toEqual({ how: 'argument', before: [] });
    expect(how('gemini --yolo')).toEqual({ how: 'argument', before: ['--prompt-interactive'] });
    expect(how('opencode')).toEqual({ how: 'argument', before: ['--prompt'] });
  });

  it('goes on standard input to a headless form and to what nobody knows', () => {
    for (const command of ['claude -p', 'claude --print', 'codex exec', 'opencode run', 'amp', 'bash -c x']) {
      expect(how(command)).toEqual({ how: 'stdin' });
    }
  });

  it('is pasted where it cannot be a word', () => {
    for (const prompt of ['x'.repeat(200_000), '--help me', '', ' \n']) {
      expect(how('claude', prompt)).toEqual({ how: 'paste' });
    }
  });
});

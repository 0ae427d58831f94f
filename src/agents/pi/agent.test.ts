import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { pi } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

describe('the pi stream', () => {
  it('is not over after an error, because a retry may follow', () => {
    const reader = createTurnReader(pi);
    const ended = read('0.73.1-retry-then-ok')
      .trim()
      .split('\n')
      .map((line) => ({ line, types: reader.push(line).map(({ type }) => type), ended: reader.ended }))
      .filter(({ types }) => types.includes('result'))
      .map(({ ended }) => ended);
    expect(ended).toEqual([false, true]);
  });

  it('is over when the retries are used up', () => {
    const reader = createTurnReader(pi);
    for (const line of read('0.73.1-err-429-forever').trim().split('\n')) reader.push(line);
    expect(reader.ended).toBe(true);
  });

  it('is over after an error that no retry follows', () => {
    const reader = createTurnReader(pi);
    for (const line of read('0.87.1-err-400').trim().split('\n')) reader.push(line);
    expect(reader.ended).toBe(true);
  });

  it('does not look into the pieces of a message, which repeat all that came before', () => {
    const piece = `{"type":"message_update","message":{"content":[{"type":"text","text":"${'x'.repeat(1000)}`;
    expect(pi.parse(piece, pi.newState())).toEqual([]);
    expect(pi.parse('{"message":{},"type":"message_update"}', pi.newState())).toEqual([]);
  });

  it('takes no block but text for its words', () => {
    const content = ['thinking', 'toolCall', 'text'].map((type) => ({ type, text: type, thinking: type }));
    const line = JSON.stringify({ type: 'message_end', message: { role: 'assistant', content } });
    expect(pi.parse(line, pi.newState())).toEqual([{ type: 'text', text: 'text' }]);
  });

  it('fails when it was stopped', () => {
    const reader = createTurnReader(pi);
    reader.push('{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"aborted"}}');
    reader.push('{"type":"agent_end","messages":[]}');
    expect(reader.finish({ exitCode: 0, cause: 'exited' })).toMatchObject({
      end: 'failed',
      error: 'stopped: aborted',
    });
  });

  it('counts events that it does not know, and shows lines that are not JSON', () => {
    expect(pi.parse('{"type":"hologram"}', pi.newState())).toEqual([{ type: 'unknown', name: 'hologram' }]);
    expect(pi.parse('Extension error', pi.newState())).toEqual([{ type: 'notice', text: 'Extension error' }]);
  });
});

describe('the pi command', () => {
  const task: AgentTask = { prompt: 'do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt on standard input and the contract in the system prompt', () => {
    expect(pi.command({ ...task, systemPrompt: 'Say so.', flags: ['--model', 'x'] }, null, 'stream')).toEqual(
      {
        args: ['-p', '--mode', 'json', '--append-system-prompt', 'Say so.', '--model', 'x'],
        stdin: 'do it',
        env: {},
      },
    );
  });

  it.each([
    ['edit', 'read,edit,write,grep,find,ls'],
    ['read', 'read,grep,find,ls'],
  ] as const)('gives only the last answer in text mode, with the tools to %s', (permissions, tools) => {
    expect(pi.command({ ...task, permissions }, null, 'text').args).toEqual([
      '-p',
      '--mode',
      'text',
      '--tools',
      tools,
    ]);
  });

  it('resumes a session', () => {
    const { args } = pi.command({ ...task, resumeSession: 'abc' }, null, 'stream');
    expect(args.slice(-2)).toEqual(['--session', 'abc']);
  });
});

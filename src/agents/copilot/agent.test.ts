import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { copilot } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

const event = (type: string, data: object) => JSON.stringify({ type, data });

describe('the copilot stream', () => {
  it('shows what a subagent does', () => {
    const state = copilot.newState();
    const shown = read('1.0.102-subagent')
      .trim()
      .split('\n')
      .flatMap((line) => copilot.parse(line, state))
      .filter(({ type }) => type === 'subagent');
    expect(shown).toEqual([
      { type: 'subagent', text: 'Child text. <promise>DONE</promise>' },
      { type: 'subagent', text: 'bash echo from-child' },
      { type: 'subagent', text: 'Child done. <promise>DONE</promise>' },
    ]);
  });

  it('tells session and model with the result', () => {
    const state = copilot.newState();
    copilot.parse(event('session.tools_updated', { model: 'gpt-5.4' }), state);
    expect(copilot.parse('{"type":"result","sessionId":"s1","exitCode":0}', state)).toEqual([
      { type: 'session', id: 's1', model: 'gpt-5.4' },
      { type: 'result', ok: true },
    ]);
  });

  it.each([
    [{ errorType: 'rate_limit', errorCode: 'user_weekly_rate_limited' }, 'usage'],
    [{ errorType: 'rate_limit', errorCode: 'rate_limited' }, 'overload'],
    [{ errorType: 'quota', errorCode: 'quota_exceeded' }, 'quota'],
    [{ errorType: 'authorization' }, 'auth'],
    [{ errorType: 'context_limit' }, 'context'],
    [{ errorType: 'query', statusCode: 503 }, 'overload'],
  ])('takes %j for its kind of limit', (data, kind) => {
    const reader = createTurnReader(copilot);
    reader.push(event('session.error', { ...data, message: 'no' }));
    reader.push('{"type":"result","exitCode":1}');
    expect(reader.finish({ exitCode: 1, cause: 'exited' })).toMatchObject({
      end: 'limited',
      limit: { kind },
    });
  });

  it('forgets a failed call after one that succeeded', () => {
    const reader = createTurnReader(copilot);
    reader.push(event('model.call_failure', { statusCode: 529 }));
    reader.push(event('assistant.turn_retry', { reason: 'overloaded' }));
    reader.push(event('model.call_finished', { outcome: 'success' }));
    reader.push(event('assistant.message', { content: 'On we go.' }));
    reader.push('{"type":"result","exitCode":1}');
    const turn = reader.finish({ exitCode: 1, cause: 'exited' });
    expect(turn).toMatchObject({ end: 'failed', error: 'exit code 1' });
    expect(turn.limit).toBeUndefined();
  });

  it('counts events that it does not know, and shows lines that are not JSON', () => {
    expect(copilot.parse(event('session.hologram', {}), copilot.newState())).toEqual([
      { type: 'unknown', name: 'session.hologram' },
    ]);
    expect(copilot.parse('Updating...', copilot.newState())).toEqual([
      { type: 'notice', text: 'Updating...' },
    ]);
  });
});

describe('the copilot command', () => {
  const task: AgentTask = { prompt: 'do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt on standard input', () => {
    expect(copilot.command({ ...task, flags: ['--model', 'auto'] }, null, 'stream')).toEqual({
      args: ['--output-format', 'json', '--allow-all', '--model', 'auto'],
      stdin: 'do it',
      env: {},
    });
  });

  it.each([
    ['edit', ['--allow-tool=write']],
    ['read', ['--deny-tool=write', '--deny-tool=shell']],
  ] as const)('gives only the last answer in text mode, with %s permissions', (permissions, flags) => {
    expect(copilot.command({ ...task, permissions }, null, 'text').args).toEqual(['--silent', ...flags]);
  });

  it('resumes a session', () => {
    expect(copilot.command({ ...task, resumeSession: 'abc' }, null, 'stream').args.at(-1)).toBe(
      '--resume=abc',
    );
  });

  it('keeps its permissions beside a denial of the user', () => {
    const { args } = copilot.command({ ...task, flags: ['--deny-tool=shell(git push)'] }, null, 'stream');
    expect(args.slice(-2)).toEqual(['--allow-all', '--deny-tool=shell(git push)']);
  });

  it("leaves permissions to the user's flags where they allow something", () => {
    const flags = ['--allow-tool=shell(git:*)'];
    expect(copilot.command({ ...task, flags }, null, 'stream').args).toEqual([
      '--output-format',
      'json',
      ...flags,
    ]);
  });
});

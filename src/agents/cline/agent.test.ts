import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { cline } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

const event = (fields: object) => JSON.stringify({ type: 'agent_event', event: fields });
const hook = (hookEventName: string) =>
  JSON.stringify({ type: 'hook_event', hookEventName, agentId: 'child', parentAgentId: 'root' });
const said = (text: string) => event({ type: 'content_end', contentType: 'text', text });
const result = (text: string) => JSON.stringify({ type: 'run_result', finishReason: 'completed', text });

describe('the cline stream', () => {
  it('shows what a subagent does', () => {
    const state = cline.newState();
    const shown = read('3.0.65-subagent')
      .trim()
      .split('\n')
      .flatMap((line) => cline.parse(line, state))
      .filter(({ type }) => type === 'subagent');
    expect(shown).toEqual([
      { type: 'subagent', text: 'Child text. <promise>DONE</promise>' },
      { type: 'subagent', text: 'run_commands echo from-child' },
      { type: 'subagent', text: 'Child done. <promise>DONE</promise>' },
    ]);
  });

  it('takes the answer from the result where a subagent was still at work', () => {
    const reader = createTurnReader(cline);
    for (const line of [hook('agent_start'), said('Child.'), said('Mine.'), result('Mine.')])
      reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).text).toEqual(['Mine.']);
  });

  it('listens again after a subagent that failed', () => {
    const reader = createTurnReader(cline);
    for (const line of [hook('agent_start'), hook('agent_error'), said('Mine.'), result('Mine.')])
      reader.push(line);
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).text).toEqual(['Mine.']);
  });

  it('never takes a limit from the output of tools that failed', () => {
    const reader = createTurnReader(cline);
    reader.push(
      event({ type: 'error', error: { message: '1 tool call(s) failed: usage limit' }, recoverable: true }),
    );
    reader.push('{"type":"run_result","finishReason":"aborted"}');
    const turn = reader.finish({ exitCode: 1, cause: 'exited' });
    expect(turn).toMatchObject({ end: 'failed', error: 'finished with aborted' });
    expect(turn.limit).toBeUndefined();
  });

  it('adds up commands and their failures', () => {
    const state = cline.newState();
    const call = { contentType: 'tool', toolName: 'run_commands', toolCallId: '1' };
    const output = [
      { result: 'a', success: true },
      { result: 'b', error: 'Command exited with code 7', success: false },
    ];
    expect(
      cline.parse(event({ type: 'content_start', ...call, input: { commands: ['a', 'b'] } }), state),
    ).toEqual([{ type: 'tool-start', id: '1', name: 'run_commands', summary: 'a; b' }]);
    expect(cline.parse(event({ type: 'content_end', ...call, output }), state)).toEqual([
      { type: 'tool-end', id: '1', ok: false, exitCode: 7, output: 'a\nb' },
    ]);
  });

  it('counts events that it does not know, and shows lines that are not JSON', () => {
    expect(cline.parse(event({ type: 'hologram' }), cline.newState())).toEqual([
      { type: 'unknown', name: 'agent_event/hologram' },
    ]);
    expect(cline.parse('{"type":"hologram"}', cline.newState())).toEqual([
      { type: 'unknown', name: 'hologram' },
    ]);
    expect(cline.parse('Warning: old', cline.newState())).toEqual([{ type: 'notice', text: 'Warning: old' }]);
  });
});

describe('the cline command', () => {
  const task: AgentTask = { prompt: '-do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt as the last word', () => {
    expect(cline.command({ ...task, flags: ['-m', 'x'] }, null, 'stream')).toEqual({
      args: ['--json', '--auto-approve', 'true', '-m', 'x', '--', '-do it'],
      stdin: null,
      env: {},
    });
  });

  it('lets no lone word be taken for a command', () => {
    expect(cline.command({ ...task, prompt: 'history' }, null, 'stream').args.at(-1)).toBe('history\n');
  });

  it.each(['edit', 'read'] as const)('only plans with %s permissions, here in plain text', (permissions) => {
    expect(cline.command({ ...task, permissions }, null, 'text')).toEqual({
      args: ['--plan', '--', '-do it'],
      stdin: null,
      env: {},
    });
  });

  it("leaves approval to the user's flags where they name it", () => {
    const flags = ['--auto-approve', 'false'];
    expect(cline.command({ ...task, flags }, null, 'stream').args).toEqual([
      '--json',
      ...flags,
      '--',
      '-do it',
    ]);
  });
});

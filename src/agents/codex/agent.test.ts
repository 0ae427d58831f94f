import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { codex } from './agent.ts';

const item = (phase: string, fields: object) => JSON.stringify({ type: `item.${phase}`, item: fields });

describe('the codex stream', () => {
  it('shows a command without the shell around it', () => {
    const command = "/bin/bash -lc 'git log\n--oneline'";
    const fields = { id: 'item_0', type: 'command_execution', command };
    expect(codex.parse(item('started', fields), codex.newState())).toEqual([
      {
        type: 'tool-start',
        id: 'item_0',
        name: 'shell',
        summary: 'git log --oneline',
        input: 'git log\n--oneline',
      },
    ]);
  });

  it('reads tool calls that are told only when they are over', () => {
    const search = { id: 'item_1', type: 'web_search', query: 'node release dates' };
    expect(codex.parse(item('completed', search), codex.newState())).toEqual([
      { type: 'tool-start', id: 'item_1', name: 'web_search', summary: 'node release dates', input: search },
      { type: 'tool-end', id: 'item_1', ok: true, output: '' },
    ]);
  });

  it('reads the calls of MCP tools, good and bad', () => {
    const state = codex.newState();
    const call = { type: 'mcp_tool_call', server: 'docs', tool: 'find', arguments: { query: 'fsync' } };
    const good = {
      ...call,
      id: '1',
      status: 'completed',
      result: { content: [{ type: 'text', text: 'found' }] },
    };
    const bad = { ...call, id: '2', status: 'failed', error: { message: 'no such page' } };
    codex.parse(item('started', { ...call, id: '1', status: 'in_progress' }), state);
    expect(codex.parse(item('completed', good), state)).toEqual([
      { type: 'tool-end', id: '1', ok: true, output: 'found' },
    ]);
    expect(codex.parse(item('completed', bad), state)).toEqual([
      { type: 'tool-start', id: '2', name: 'docs.find', summary: 'fsync', input: { query: 'fsync' } },
      { type: 'tool-end', id: '2', ok: false, output: 'no such page' },
    ]);
  });

  it('goes on after an error that announces a retry', () => {
    const reader = createTurnReader(codex);
    reader.push('{"type":"error","message":"Reconnecting... 1/5 (unexpected status 503)"}');
    expect(reader.ended).toBe(false);
    expect(reader.finish({ exitCode: null, cause: 'idle' })).toMatchObject({
      end: 'inactive',
      limit: { kind: 'overload' },
    });
  });

  it('needs the clock for a reset time without a date', () => {
    const line =
      '{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again in 2 hours."}}';
    const now = Date.UTC(2026, 10, 15);
    expect(codex.parse(line, { ...codex.newState(), now })).toMatchObject([
      { ok: false, limit: { kind: 'usage', resetsAt: now + 7_200_000 } },
    ]);
    expect(codex.parse(line, codex.newState())).not.toHaveProperty('0.limit.resetsAt');
  });

  it('counts items and events that it does not know', () => {
    const reader = createTurnReader(codex);
    reader.push('{"type":"turn.moved"}');
    reader.push(item('completed', { id: 'item_0', type: 'hologram' }));
    expect(reader.finish({ exitCode: 0, cause: 'exited' }).unknown).toEqual({
      'turn.moved': 1,
      'item/hologram': 1,
    });
  });

  it('shows a line that is not JSON', () => {
    expect(codex.parse('Reading prompt from stdin...', codex.newState())).toEqual([
      { type: 'notice', text: 'Reading prompt from stdin...' },
    ]);
  });
});

describe('the codex command', () => {
  const task: AgentTask = { prompt: '-do it', permissions: 'full', flags: [], asRoot: false };
  const args = (more: Partial<AgentTask>) => codex.command({ ...task, ...more }, null, 'stream').args;

  it('streams, with the prompt on standard input', () => {
    expect(codex.command({ ...task, flags: ['-m', 'gpt-5.5'] }, null, 'stream')).toEqual({
      args: [
        'exec',
        '--json',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '-m',
        'gpt-5.5',
      ],
      stdin: '-do it',
      env: {},
    });
  });

  it('gives only the last answer in text mode', () => {
    expect(codex.command({ ...task, permissions: 'read' }, '0.80.0', 'text').args).toEqual([
      'exec',
      '--skip-git-repo-check',
      '-s',
      'read-only',
    ]);
  });

  it('may change files in the working copy, where told so', () => {
    expect(args({ permissions: 'edit' })).toContain('workspace-write');
  });

  it('resumes a session, with every option before the word', () => {
    expect(args({ resumeSession: 'abc', flags: ['-m', 'x'] }).slice(-5)).toEqual([
      '-m',
      'x',
      'resume',
      'abc',
      '-',
    ]);
  });

  it.each([['-s', 'read-only'], ['--sandbox=read-only'], ['--yolo']])(
    'leaves the sandbox to %s of the user, since an option may come only once',
    (...flags) => {
      expect(args({ flags })).toEqual(['exec', '--json', '--skip-git-repo-check', ...flags]);
    },
  );
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { guardHook } from './hook.ts';

let root: string;
let env: Record<string, string>;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-guard-')));
  mkdirSync(join(root, 'home'));
  mkdirSync(join(root, 'project/.ralph'), { recursive: true });
  env = { RALPH_RUN_ID: 'r1', HOME: join(root, 'home') };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function ask(tool: string, input: object, event = 'PreToolUse', over: Record<string, string> = env) {
  return guardHook(
    {
      hook_event_name: event,
      session_id: 's1',
      tool_name: tool,
      tool_input: input,
      cwd: join(root, 'project'),
    },
    over,
  ).output;
}

const denial = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } };

describe('guardHook', () => {
  it('denies a harmful command in the words of Claude Code and Codex', () => {
    expect(ask('Bash', { command: 'rm -rf ~' })).toMatchObject(denial);
    expect(ask('shell', { command: ['bash', '-lc', 'rm -rf ~'] })).toMatchObject(denial);
    expect(ask('shell', { command: ['rm', '-rf', '/etc'] })).toMatchObject(denial);
  });

  it('denies it in the words of Gemini', () => {
    const answer = ask('run_shell_command', { command: 'git push -f' }, 'BeforeTool');
    expect(answer).toEqual({ decision: 'deny', reason: expect.stringContaining('history of the remote') });
  });

  it('says nothing to a harmless command or an unknown tool', () => {
    expect(ask('Bash', { command: 'npm test' })).toBeNull();
    expect(ask('WebSearch', { query: 'rm -rf ~' })).toBeNull();
    expect(guardHook('no event', env)).toEqual({ output: null, denial: null, onDuty: false });
  });

  it('warns without stopping', () => {
    expect(ask('Bash', { command: 'git commit --no-verify -m x' })).toEqual({
      systemMessage: expect.stringContaining('hooks'),
    });
  });

  it.each([
    ['Write', { file_path: '.ralph/settings.json' }],
    ['Edit', { file_path: '~/.bashrc' }],
    ['MultiEdit', { file_path: '.claude/settings.json' }],
    ['NotebookEdit', { notebook_path: '../other/a.ipynb' }],
    ['replace', { file_path: '.gemini/settings.json' }],
    [
      'apply_patch',
      { command: '*** Begin Patch\n*** Update File: .git/hooks/pre-commit\n+x\n*** End Patch' },
    ],
    ['Read', { file_path: '~/.ssh/id_rsa' }],
    ['Grep', { path: '~/.ssh', pattern: '.' }],
  ])('denies %s on a protected file', (tool, input) => {
    expect(ask(tool, input)).toMatchObject(denial);
  });

  it('allows file tools inside the project', () => {
    expect(ask('Write', { file_path: join(root, 'project/src/a.ts') })).toBeNull();
    expect(ask('apply_patch', { command: '*** Add File: src/a.ts' })).toBeNull();
  });

  it('follows a symbolic link out of the project', () => {
    symlinkSync(join(root, 'home'), join(root, 'project/link'));
    expect(ask('Write', { file_path: 'link/notes.txt' })).toMatchObject(denial);
  });

  it('tells what was refused, for the record', () => {
    const { denial } = guardHook({ tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }, env);
    expect(denial).toEqual({
      tool: 'Bash',
      what: 'rm -rf ~',
      category: 'destructive-files',
      reason: expect.stringContaining('outside the project'),
    });
  });

  describe('has a say', () => {
    const harmful = { command: 'rm -rf ~' };
    let attended: Record<string, string>;
    beforeEach(() => {
      attended = { HOME: join(root, 'home') };
    });
    const set = (file: string, guard: string) => {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), JSON.stringify({ guard }));
    };
    const asked = (over: Record<string, string> = {}) =>
      ask('Bash', harmful, 'PreToolUse', { ...attended, ...over });

    it('not in a session that a person watches', () => {
      expect(asked()).toBeNull();
    });

    it('in a session that has a loop', () => {
      set('home/.local/state/ralph/sessions/s1.json', 'x');
      expect(asked()).toMatchObject(denial);
    });

    it('not in a session while only another one has a loop', () => {
      set('home/.local/state/ralph/sessions/s2.json', 'x');
      expect(asked()).toBeNull();
    });

    it.each([
      'project/.ralph/settings.json',
      'project/.ralph/settings.local.json',
      'home/.config/ralph/settings.json',
    ])('everywhere if %s says always', (file) => {
      set(file, 'always');
      expect(asked()).toMatchObject(denial);
    });

    it('everywhere if the environment says so, and nowhere if it says off', () => {
      expect(asked({ RALPH_GUARD: 'always' })).toMatchObject(denial);
      expect(asked({ RALPH_GUARD: 'off', RALPH_RUN_ID: 'r1' })).toBeNull();
    });

    it('as the nearest settings say', () => {
      set('home/.config/ralph/settings.json', 'always');
      set('project/.ralph/settings.json', 'off');
      expect(asked({ RALPH_RUN_ID: 'r1' })).toBeNull();
      set('project/.ralph/settings.local.json', 'auto');
      expect(asked()).toBeNull();
      expect(asked({ RALPH_RUN_ID: 'r1' })).toMatchObject(denial);
    });
  });

  it('denies everything while its rules cannot be read, since nobody is there to see a warning', () => {
    writeFileSync(join(root, 'project/.ralph/guard.json'), '{"allow": 1}');
    expect(ask('Bash', { command: 'ls' })).toMatchObject(denial);
  });
});

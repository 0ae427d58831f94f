import { describe, expect, it } from 'vitest';
import { claude } from './claude/agent.ts';
import { codex } from './codex/agent.ts';
import { opencode } from './opencode/agent.ts';

const line = "node '/opt/ralph kit/guard.cjs'";
const programs = {
  hook: (name: string) => (name === 'guard' ? line : null),
  opencodePlugin: '/opt/guard.js',
  sha256: (text: string) => `<${text}>`,
  readJson: (path: string) => (path === 'mine.json' ? { model: 'mine' } : null),
};
const around = { version: null, flags: [], env: {} };

describe('the guard before the tools of an agent', () => {
  it('is a hook in the settings of one call of Claude Code', () => {
    const [flag, settings = ''] = claude.guard?.(programs, around)?.args ?? [];
    expect(flag).toBe('--settings');
    expect(JSON.parse(settings)).toMatchObject({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: line }] }] },
    });
  });

  it('comes with the stop checks and the context monitor where a loop wants them', () => {
    const all = { ...programs, hook: (name: string) => `node ${name}.cjs` };
    const guard = claude.guard?.(all, {
      ...around,
      flags: ['--settings', '{"hooks":{"Stop":[{"hooks":[]}]}}'],
    });
    const { hooks } = JSON.parse(guard?.args[1] ?? '');
    expect(hooks.Stop).toMatchObject([{ hooks: [] }, { hooks: [{ command: 'node stop.cjs' }] }]);
    expect(hooks.PostToolUse).toMatchObject([{ matcher: '.*', hooks: [{ command: 'node context.cjs' }] }]);
    expect(guard?.checksStops).toBe(true);
    expect(claude.guard?.(programs, around)?.checksStops).toBeUndefined();
  });

  it('is asked about each tool of Claude Code that it judges, and about no other', () => {
    const [, settings = ''] = claude.guard?.(programs, around)?.args ?? [];
    const matcher = new RegExp(JSON.parse(settings).hooks.PreToolUse[0].matcher);
    for (const tool of ['Bash', 'Monitor', 'Read', 'Write', 'NotebookEdit', 'mcp__files__write_file']) {
      expect(tool).toMatch(matcher);
    }
    for (const tool of ['TodoWrite', 'BashOutput', 'ReadMcpResourceTool', 'Task', 'WebFetch', 'Glob']) {
      expect(tool).not.toMatch(matcher);
    }
  });

  it.each([
    [['--settings', 'mine.json']],
    [['--settings=mine.json']],
    [['--settings', '{"model":"mine","disableAllHooks":true}']],
    [['--settings', 'other.json', '--settings', '{"model":"mine"}']],
  ])('comes with the settings that the user has on the command line: %j', (own) => {
    const found = claude.guard?.(programs, { ...around, flags: ['--debug', ...own, '--verbose'] });
    const [flag, settings = ''] = found?.args ?? [];
    expect(flag).toBe('--settings');
    expect(JSON.parse(settings)).toMatchObject({
      model: 'mine',
      disableAllHooks: false,
      hooks: { PreToolUse: [{ hooks: [{ command: line }] }] },
    });
    expect(found?.flags).toEqual(['--debug', '--verbose']);
  });

  it('stands after the hooks that the user has on the command line', () => {
    const mine = { hooks: { Stop: ['s'], PreToolUse: ['p'] } };
    const flags = ['--settings', JSON.stringify(mine)];
    const [, settings = ''] = claude.guard?.(programs, { ...around, flags })?.args ?? [];
    expect(JSON.parse(settings).hooks).toMatchObject({ Stop: ['s'], PreToolUse: ['p', {}] });
  });

  it.each(['none.json', '{"a"', '{]}', '{"hooks":1}', '{"hooks":{"PreToolUse":{}}}'])(
    'is not there where the settings of the user cannot be read: %s',
    (given) => {
      expect(claude.guard?.(programs, { ...around, flags: ['--settings', given] })).toBeNull();
    },
  );

  it('is a hook for Codex with the digest by which it is trusted', () => {
    const [, , , hooks = '', , state = ''] = codex.guard?.(programs, around)?.args ?? [];
    expect(hooks).toContain(`command="node '/opt/ralph kit/guard.cjs'",timeout=60`);
    expect(state).toContain(
      `trusted_hash="sha256:<{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"node '/opt/ralph kit/guard.cjs'","timeout":60,"type":"command"}]}>"`,
    );
  });

  it('is there where the settings of the agent switch hooks off', () => {
    const [, settings = ''] = claude.guard?.(programs, around)?.args ?? [];
    expect(JSON.parse(settings).disableAllHooks).toBe(false);
    expect(codex.guard?.(programs, around)?.args).toContain('features.hooks=true');
  });

  it('is not there where a flag of the user leaves hooks and plugins out', () => {
    for (const flag of ['--bare', '--safe-mode']) {
      expect(claude.guard?.(programs, { ...around, flags: [flag] })).toBeNull();
    }
    expect(opencode.guard?.(programs, { ...around, flags: ['--pure'] })).toBeNull();
    expect(opencode.guard?.(programs, { ...around, env: { OPENCODE_PURE: '1' } })).toBeNull();
  });

  it('is not there in a Codex that knows no such hooks', () => {
    expect(codex.guard?.(programs, { ...around, version: '0.80.0' })).toBeNull();
  });

  it('is a plugin for OpenCode beside those of the user', () => {
    const content = (own?: string) => {
      const env = own === undefined ? {} : { OPENCODE_CONFIG_CONTENT: own };
      const guard = opencode.guard?.(programs, { ...around, env });
      return guard ? JSON.parse(guard.env.OPENCODE_CONFIG_CONTENT ?? '') : null;
    };
    expect(content()).toEqual({ plugin: ['/opt/guard.js'] });
    expect(content('{"model":"m","plugin":["mine"]}')).toEqual({
      model: 'm',
      plugin: ['mine', '/opt/guard.js'],
    });
    expect(content('{ // mine\n}')).toBeNull();
  });
});

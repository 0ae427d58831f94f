import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import { carryOut, planInstall } from '../session/install.ts';
import { claudeInstaller } from './claude-installer.ts';
import type { InstallPlace } from './hook-installer.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const indented = {
  enabledPlugins: {},
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine.sh' }] }] },
};
let room: string;
let place: InstallPlace;
let settings: string;

beforeEach(() => {
  room = makeTempDir('ralph-install-');
  const env = { HOME: join(room, 'home'), XDG_STATE_HOME: join(room, 'state') };
  place = { scope: 'project', cwd: join(room, 'repo'), env, root, platform: 'linux' };
  settings = join(room, 'repo/.claude/settings.local.json');
});

afterEach(() => removeTempDir(room));

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return text;
}

function run(action: 'install' | 'uninstall', extra: Partial<InstallPlace> = {}) {
  const here = { ...place, ...extra };
  const plan = planInstall(claudeInstaller, action, here);
  carryOut(plan, action, here);
  return plan;
}

function read(path = settings) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

describe('ralph install claude', () => {
  it('writes hooks that point at the built files, and the commands under their short names', () => {
    run('install');
    const [{ hooks }] = read().hooks.Stop;
    expect(hooks[0].command).toBe(`/bin/sh '${join(root, 'plugins/claude-code/hooks/gate.sh')}' stop`);
    expect(Object.keys(read().hooks).sort()).toEqual([
      'PostToolUse',
      'PreToolUse',
      'SessionStart',
      'Stop',
      'UserPromptExpansion',
      'UserPromptSubmit',
    ]);
    expect(readdirSync(join(room, 'repo/.claude/commands'))).toContain('ralph-loop.md');
  });

  it('writes what plans, starts and archives a PRD so that it needs no plugin', () => {
    run('install');
    const written = (path: string) => readFileSync(join(room, 'repo/.claude', path), 'utf8');
    expect(written('skills/ralph-plan/SKILL.md')).toContain('name: ralph-plan\n');
    expect(written('commands/ralph-init.md')).toContain('\nralph prd init $ARGUMENTS\n');
    expect(written('commands/ralph-archive.md')).toContain('\nralph prd archive $ARGUMENTS\n');
    for (const name of readdirSync(join(room, 'repo/.claude/commands')))
      expect(written(`commands/${name}`)).not.toContain('CLAUDE_PLUGIN_ROOT');
  });

  it("writes into the user's settings where that is asked for, or where the user keeps them", () => {
    run('install', { scope: 'user' });
    expect(existsSync(join(room, 'home/.claude/settings.json'))).toBe(true);
    run('install', { scope: 'user', env: { ...place.env, CLAUDE_CONFIG_DIR: join(room, 'config') } });
    expect(existsSync(join(room, 'config/settings.json'))).toBe(true);
    expect(existsSync(settings)).toBe(false);
  });

  it('starts node itself on Windows', () => {
    run('install', { platform: 'win32' });
    expect(read().hooks.Stop[0].hooks[0].command).toMatch(/^node ".*stop\.cjs"$/);
  });

  it('keeps what is there, and changes nothing the second time', () => {
    write(settings, JSON.stringify({ ...indented, model: 'opus' }, null, 4));
    run('install');
    expect(read()).toMatchObject({ model: 'opus', enabledPlugins: {} });
    expect(read().hooks.Stop).toHaveLength(2);
    expect(read().hooks.Stop[0]).toEqual(indented.hooks.Stop[0]);
    expect(readFileSync(settings, 'utf8')).toContain('\n    "model"');
    expect(planInstall(claudeInstaller, 'install', place).changes).toEqual([]);
  });

  it.each([
    ['no file', null],
    ['an empty object', '{}'],
    ['odd formatting', '{"model":"opus",\n\n      "hooks": {"Stop":[] } }'],
    ['hooks of others', `${JSON.stringify(indented, null, '\t')}\n`],
  ])('is undone to the byte with %s', (_name, before) => {
    if (before !== null) write(settings, before);
    run('install');
    run('uninstall');
    expect(existsSync(settings) ? readFileSync(settings, 'utf8') : null).toBe(before);
    expect(existsSync(join(room, 'repo/.claude/commands'))).toBe(false);
    expect(existsSync(join(room, 'repo/.claude/skills'))).toBe(false);
  });

  it('takes out only its own entries when somebody changed the file since', () => {
    write(settings, JSON.stringify(indented, null, 2));
    run('install');
    const changed = { ...read(), model: 'sonnet' };
    write(settings, JSON.stringify(changed, null, 2));
    run('uninstall');
    expect(read()).toEqual({ ...indented, model: 'sonnet' });
  });

  it('leaves a command alone that is not its own', () => {
    const own = join(room, 'repo/.claude/commands/ralph-loop.md');
    const text = write(own, 'my own loop');
    expect(run('install').notes).toContain(`${own} is there already and stays as it is.`);
    run('uninstall');
    expect(readFileSync(own, 'utf8')).toBe(text);
  });

  it('refuses settings that are not JSON, and changes nothing', () => {
    const text = write(settings, '{ "model": opus }');
    expect(() => run('install')).toThrow(`${settings} is not valid JSON`);
    expect(readFileSync(settings, 'utf8')).toBe(text);
    expect(existsSync(join(room, 'repo/.claude/commands'))).toBe(false);
  });

  it('writes no second copy of the hooks where the plugin has them', () => {
    write(
      join(room, 'home/.claude/settings.json'),
      JSON.stringify({ enabledPlugins: { 'ralphkit@ralphkit': true } }),
    );
    run('install');
    expect(existsSync(settings)).toBe(false);
    expect(existsSync(join(room, 'repo/.claude/commands/ralph-loop.md'))).toBe(true);
  });
});

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import type { InstallPlace } from '../hook/hook-installer.ts';
import { carryOut, hostInstallers, planInstall } from './install.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const files = {
  claude: ['.claude/settings.local.json', '.claude/settings.json'],
  codex: ['.codex/hooks.json', '.codex/hooks.json'],
  gemini: ['.gemini/settings.json', '.gemini/settings.json'],
  opencode: ['.opencode/plugins/ralph-loop.js', '.config/opencode/plugins/ralph-loop.js'],
} as const;
type Host = keyof typeof files;
const hosts = Object.keys(files) as Host[];
const withSettings = ['claude', 'codex', 'gemini'] as const;
const theirs = { hooks: [{ type: 'command', command: 'mine.sh' }] };
let room: string;
let place: InstallPlace;

beforeEach(() => {
  room = makeTempDir('ralph-install-');
  const env = { HOME: join(room, 'home'), XDG_STATE_HOME: join(room, 'state') };
  place = { scope: 'project', cwd: join(room, 'repo'), env, root, platform: 'linux' };
});

afterEach(() => removeTempDir(room));

function fileOf(host: Host, scope: 'project' | 'user' = 'project'): string {
  return scope === 'project' ? join(room, 'repo', files[host][0]) : join(room, 'home', files[host][1]);
}

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return text;
}

function run(host: Host, action: 'install' | 'uninstall', extra: Partial<InstallPlace> = {}) {
  const here = { ...place, ...extra };
  const installer = hostInstallers[host];
  if (!installer) throw new Error(host);
  const plan = planInstall(installer, action, here);
  carryOut(plan, action, here);
  return plan;
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

describe.each(hosts)('ralph install %s', (host) => {
  it('writes where the host looks, of this folder or of the user', () => {
    run(host, 'install', { scope: 'user' });
    expect(existsSync(fileOf(host, 'user'))).toBe(true);
    expect(existsSync(fileOf(host))).toBe(false);
    run(host, 'install');
    expect(existsSync(fileOf(host))).toBe(true);
  });

  it('changes nothing the second time, and is undone where there was no file', () => {
    expect(run(host, 'install').changes.length).toBeGreaterThan(0);
    expect(run(host, 'install').changes).toEqual([]);
    run(host, 'uninstall');
    expect(textOf(fileOf(host))).toBeNull();
    expect(run(host, 'uninstall').changes).toEqual([]);
  });

  it('leaves no empty folder behind, and none away that is in use', () => {
    write(join(room, 'repo/keep.txt'), '');
    run(host, 'install');
    run(host, 'uninstall');
    expect(readdirSync(join(room, 'repo'))).toEqual(['keep.txt']);
    const own = write(join(dirname(fileOf(host)), 'own.txt'), 'mine');
    run(host, 'install');
    run(host, 'uninstall');
    expect(textOf(join(dirname(fileOf(host)), 'own.txt'))).toBe(own);
  });
});

describe.each(withSettings)('the settings of %s', (host) => {
  it.each([
    ['an empty object', '{}'],
    ['odd formatting', '{"a":1,\r\n\r\n      "hooks": {"Stop":[] } }'],
    [
      'hooks of others',
      `${JSON.stringify({ hooks: { Stop: [theirs], AfterAgent: [theirs] } }, null, '\t')}\n`,
    ],
  ])('are as they were, to the byte, with %s', (_name, before) => {
    write(fileOf(host), before);
    run(host, 'install');
    expect(textOf(fileOf(host))).not.toBe(before);
    run(host, 'uninstall');
    expect(textOf(fileOf(host))).toBe(before);
  });

  it('keep the entries of others, also when they change in between', () => {
    write(fileOf(host), JSON.stringify({ hooks: { Stop: [theirs] } }));
    run(host, 'install');
    const now = JSON.parse(textOf(fileOf(host)) ?? '');
    expect(now.hooks.Stop[0]).toEqual(theirs);
    now.hooks.SessionStart.unshift(theirs);
    write(fileOf(host), JSON.stringify(now));
    run(host, 'uninstall');
    expect(JSON.parse(textOf(fileOf(host)) ?? '')).toEqual({
      hooks: { Stop: [theirs], SessionStart: [theirs] },
    });
  });

  it('are refused where they are not JSON, and stay as they are', () => {
    const text = write(fileOf(host), '{ "model": x }');
    expect(() => run(host, 'install')).toThrow(`${fileOf(host)} is not valid JSON`);
    expect(textOf(fileOf(host))).toBe(text);
  });

  it('stay as private as they were', () => {
    write(fileOf(host), '{}');
    chmodSync(fileOf(host), 0o600);
    run(host, 'install');
    expect(statSync(fileOf(host)).mode & 0o777).toBe(0o600);
  });

  it('name built files that are there', () => {
    run(host, 'install');
    const named = textOf(fileOf(host))?.match(/\/[^'" ]*gate\.sh/g) ?? [];
    expect(named.length).toBeGreaterThanOrEqual(4);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('hooks that are a command line', () => {
  const shells = ['sh', 'bash', 'zsh', 'fish', 'dash'].filter(
    (shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0,
  );

  it.each(shells)('start a loop and send the agent back, whatever the path, in %s', (shell) => {
    const odd = join(room, "it's $(a) `copy`");
    const hooksFolder = 'plugins/claude-code/hooks';
    cpSync(join(root, hooksFolder), join(odd, hooksFolder), { recursive: true });
    run('codex', 'install', { root: odd });
    const { hooks } = JSON.parse(textOf(fileOf('codex')) ?? '');
    const fire = (event: string, input: object) => {
      const { stdout, stderr } = spawnSync(shell, ['-c', hooks[event][0].hooks[0].command], {
        cwd: room,
        env: { ...place.env, PATH: process.env.PATH },
        input: JSON.stringify({ session_id: 's', cwd: room, hook_event_name: event, ...input }),
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout;
    };
    expect(fire('Stop', {})).toBe('');
    expect(fire('UserPromptSubmit', { prompt: 'no command' })).toBe('');
    expect(fire('UserPromptSubmit', { prompt: '/ralph-loop fix it' })).toContain('additionalContext');
    expect(JSON.parse(fire('Stop', {}))).toMatchObject({ decision: 'block' });
  });

  it.each([
    ['codex', '"statusMessage": "ralph"'],
    ['gemini', '"name": "ralph"'],
  ] as const)('are shown by their name in %s', (host, label) => {
    run(host, 'install');
    expect(textOf(fileOf(host))).toContain(label);
  });

  it('start node itself on Windows', () => {
    run('codex', 'install', { platform: 'win32' });
    const { hooks } = JSON.parse(textOf(fileOf('codex')) ?? '');
    expect(hooks.Stop[0].hooks[0].command).toMatch(/^node ".*generated.stop\.cjs" codex$/);
    run('codex', 'uninstall', { platform: 'win32' });
    expect(textOf(fileOf('codex'))).toBeNull();
  });

  it('are followed by a word about the trust that Codex wants', () => {
    expect(run('codex', 'install').notes.join('\n')).toMatch(
      /skips hooks without a word until you trust them/,
    );
  });
});

describe('the plugin of OpenCode', () => {
  it('leads to the one in the package', () => {
    run('opencode', 'install');
    const [, url = ''] = /from '(.*)'/.exec(textOf(fileOf('opencode')) ?? '') ?? [];
    expect(fileURLToPath(url)).toBe(join(root, 'dist/lib/opencode.js'));
  });

  it('does not replace another file of its name', () => {
    const text = write(fileOf('opencode'), 'export const Mine = 1;\n');
    expect(run('opencode', 'install').notes[0]).toContain('stays as it is');
    run('opencode', 'uninstall');
    expect(textOf(fileOf('opencode'))).toBe(text);
  });
});

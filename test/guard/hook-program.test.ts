import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from '../../src/store/journal.ts';
import { openMailbox } from '../../src/store/mailbox.ts';
import { makeTempDir, removeTempDir } from '../../src/system/temp.ts';

const plugin = fileURLToPath(new URL('../../plugins/claude-code', import.meta.url));
let room: string;
let env: Record<string, string>;

beforeEach(() => {
  room = makeTempDir('ralph-guard-hook-');
  for (const folder of ['home', 'project', 'bin']) mkdirSync(join(room, folder));
  env = { HOME: join(room, 'home'), PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
});

afterEach(() => removeTempDir(room));

/** Runs the hook of an event as a host does that reads hooks.json. */
function start(event: string, input: string, extra: Record<string, string>, folder = 'project') {
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
  const [{ command, args }] = hooks[event][0].hooks;
  const words = args.map((word: string) => word.replace('$' + '{CLAUDE_PLUGIN_ROOT}', () => plugin));
  const cwd = join(room, folder);
  return spawnSync(command, words, { cwd, env: { ...env, ...extra }, input, encoding: 'utf8' });
}

function fire(event: string, input: object, extra: Record<string, string> = {}, folder = 'project') {
  const whole = { hook_event_name: event, session_id: 's1', cwd: join(room, folder), ...input };
  const { status, stdout, stderr } = start(event, JSON.stringify(whole), extra, folder);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout === '' ? null : JSON.parse(stdout).hookSpecificOutput;
}

const bash = (command: string, extra?: Record<string, string>) =>
  fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } }, extra);
const denied = {
  permissionDecision: 'deny',
  permissionDecisionReason: expect.stringContaining('ralph guard'),
};

/** A path with all that the line of sh may use, and no node. */
function withoutNode() {
  const bin = join(room, 'bin');
  for (const name of ['sh', 'cat', 'nice', 'grep', 'dd']) {
    const found = ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found && !existsSync(join(bin, name))) symlinkSync(found, join(bin, name));
  }
  return { PATH: bin };
}

function set(file: string, settings: object): void {
  mkdirSync(dirname(join(room, file)), { recursive: true });
  writeFileSync(join(room, file), JSON.stringify(settings));
}

describe('the guard in the hooks of the plugin', () => {
  it('refuses a harmful command of a run and leaves word for the loop, and lets a harmless one pass', () => {
    const inRun = { RALPH_RUN_ID: 'r1', API_TOKEN: 'tok-6a1f0c2e9b' };
    expect(bash('rm -rf ~/notes # tok-6a1f0c2e9b', inRun)).toMatchObject(denied);
    expect(bash('npm test && rm -rf dist', inRun)).toBeNull();
    const mailbox = openMailbox(env, 'r1', () => {});
    const denials = mailbox.takeDenials();
    mailbox.close();
    expect(denials).toMatchObject([{ tool: 'Bash', category: 'destructive-files' }]);
    expect(denials[0]?.what).toContain('rm -rf ~/notes');
    expect(denials[0]?.what).not.toContain('tok-6a1f0c2e9b');
  });

  it('keeps no half of a secret where a long command is cut', () => {
    const secret = 'tok-6a1f0c2e9b';
    const before = 'rm -rf ~/notes # ';
    const command = `${before}${'x'.repeat(150 - before.length - 8)} ${secret} ${'y'.repeat(400)}`;
    expect(bash(command, { RALPH_RUN_ID: 'r1', API_TOKEN: secret })).toMatchObject(denied);
    const mailbox = openMailbox(env, 'r1', () => {});
    const [{ what = '' } = {}] = mailbox.takeDenials();
    mailbox.close();
    expect(what).toMatch(/^rm -rf .*….*y$/);
    expect(what).not.toContain('tok-6a1');
  });

  it('looks at every tool but at the command of a shell alone', () => {
    const tool_input = { file_path: join(room, 'home/.bashrc'), content: 'x', command: 'ls' };
    expect(fire('PreToolUse', { tool_name: 'Write', tool_input }, { RALPH_RUN_ID: 'r1' })).toMatchObject(
      denied,
    );
  });

  it.each(['', 'garbage', '{"tool_name":"Bash","tool_input":{"comm'])(
    'refuses in a run by its exit code where the event is %j',
    (input) => {
      const run = (extra: Record<string, string>) =>
        spawnSync(process.execPath, [join(plugin, 'hooks/guard.cjs')], { env: { ...env, ...extra }, input });
      const { status, stdout, stderr } = run({ RALPH_RUN_ID: 'r1' });
      expect([status, String(stdout)]).toEqual([2, '']);
      expect(String(stderr)).toContain('cannot be read');
      expect(run({}).status).toBe(0);
    },
  );

  it('refuses in a session that has a loop where the event breaks off, and only there', () => {
    fire('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const broken = (id: string) => `{"session_id":"${id}","tool_name":"Bash","tool_input":{"comm`;
    const { status, stderr } = start('PreToolUse', broken('s1'), {});
    expect(status).toBe(2);
    expect(stderr).toContain('cannot be read');
    expect(start('PreToolUse', broken('s2'), {}).status).toBe(0);
  });

  it('refuses by its exit code where nobody reads its answer', async () => {
    const child = spawn(process.execPath, [join(plugin, 'hooks/guard.cjs')], {
      env: { ...env, RALPH_RUN_ID: 'r1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdout.destroy();
    child.stdin.end(JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }));
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(2);
  });

  it('refuses it in a session that has a loop, and writes it into the journal of the loop', () => {
    fire('UserPromptSubmit', { prompt: '/ralph-loop x' });
    expect(bash('git push --force')).toMatchObject(denied);
    const sessions = join(env.HOME ?? '', '.local/state/ralph/sessions');
    const { events } = readJournal(join(sessions, 's1.ndjson'));
    expect(events.at(-1)).toMatchObject({
      type: 'guard.denied',
      iteration: 0,
      tool: 'Bash',
      what: 'git push --force',
      category: 'git',
    });
    expect(readdirSync(sessions).sort()).toEqual(['s1.json', 's1.ndjson']);
  });

  it.each([
    ['there is nothing at all', {}, () => {}],
    ['the settings say nothing of it', {}, () => set('project/.ralph/settings.json', { guard: 'auto' })],
    ['it is off', { RALPH_GUARD: 'off', RALPH_RUN_ID: 'r1' }, () => {}],
  ])('does not even start node where %s', (_name, extra, prepare) => {
    prepare();
    expect(bash('rm -rf ~/notes', { ...extra, ...withoutNode() })).toBeNull();
  });

  it('has a say from a folder inside the project whose settings say always', () => {
    set('project/.ralph/settings.json', { guard: 'always' });
    mkdirSync(join(room, 'project/src/deep'), { recursive: true });
    const tool_input = { command: 'rm -rf ~/notes' };
    expect(fire('PreToolUse', { tool_name: 'Bash', tool_input }, {}, 'project/src/deep')).toMatchObject(
      denied,
    );
  });

  it.each(['CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR'])(
    'has a say outside of the project that the session was started in (%s)',
    (name) => {
      set('project/.ralph/settings.json', { guard: 'always' });
      const call = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~/notes' } };
      const there = (folder: string) => fire('PreToolUse', call, { [name]: join(room, folder) }, 'bin');
      expect(there('project/src')).toMatchObject(denied);
      expect(there('home')).toBeNull();
    },
  );

  it.each(['PreToolUse', 'Stop'])(
    'reads all that a host says at %s, be there nothing to do',
    async (event) => {
      const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
      const [{ command, args }] = hooks[event][0].hooks;
      const child = spawn(command, args, { cwd: join(room, 'project'), env });
      const failed = new Promise((resolve) => child.stdin.on('error', resolve));
      const ended = new Promise((resolve) => child.on('exit', resolve));
      child.stdin.end('x'.repeat(1_000_000));
      expect(await Promise.race([failed, ended])).toBe(0);
    },
  );

  it.each([
    ['in a run', { RALPH_RUN_ID: 'r1' }, () => {}],
    ['where the settings say always', {}, () => set('project/.ralph/settings.json', { guard: 'always' })],
    ['in a session that has a loop', {}, () => fire('UserPromptSubmit', { prompt: '/ralph-loop x' })],
  ])('refuses %s where it is killed or cannot start', (_name, extra, prepare) => {
    prepare();
    const killed = join(room, 'killed');
    mkdirSync(killed);
    writeFileSync(join(killed, 'node'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
    for (const PATH of [`${killed}:/usr/bin:/bin`, withoutNode().PATH]) {
      const { status, stderr } = start('PreToolUse', '{"session_id":"s1"}', { ...extra, PATH });
      expect(status).toBe(2);
      expect(stderr).not.toBe('');
    }
  });

  it.each([
    ['in a run', { RALPH_RUN_ID: 'r1' }],
    ['in a session that has a loop', {}],
  ])('ends %s before a host ends it, which would let the call pass', (_name, extra) => {
    fire('UserPromptSubmit', { prompt: '/ralph-loop x' });
    writeFileSync(join(room, 'bin/node'), '#!/bin/sh\nulimit -t\n', { mode: 0o755 });
    const PATH = `${join(room, 'bin')}:/usr/bin:/bin`;
    const { stdout } = start('PreToolUse', '{"session_id":"s1"}', { ...extra, PATH });
    expect(stdout).toMatch(/^\d+\n$/);
  });

  it.each([
    ['without a home', { HOME: '' }, 's2'],
    ['while the loop of another session has a name that sh cannot read', {}, 'other/session'],
    ['in a call that speaks of the loop of another session', {}, 'spoken-of'],
  ])('lets a call pass %s where there is no node, and refuses it where it is killed', (_name, extra, id) => {
    fire('UserPromptSubmit', { prompt: '/ralph-loop x', session_id: id });
    const call = '{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"echo spoken-of"}}';
    expect(start('PreToolUse', call, { ...extra, ...withoutNode() }).status).toBe(0);
    writeFileSync(join(room, 'bin/node'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
    expect(start('PreToolUse', call, { ...extra, ...withoutNode() }).status).toBe(2);
  });

  it.each([{ RALPH_GUARD: 'auto' }, { RALPH_GUARD: '' }])('does not start node for %j alone', (extra) => {
    expect(bash('rm -rf ~/notes', { ...extra, ...withoutNode() })).toBeNull();
  });

  it('does not start node for a session while only another one has a loop', () => {
    fire('UserPromptSubmit', { prompt: '/ralph-loop x', session_id: 'other-session' });
    expect(bash('rm -rf ~/notes', withoutNode())).toBeNull();
  });

  it.each(['project/.ralph/settings.local.json', 'home/.config/ralph/settings.json'])(
    'has a say in every session if %s says always',
    (file) => {
      set(file, { guard: 'always' });
      expect(bash('rm -rf ~/notes')).toMatchObject(denied);
    },
  );
});

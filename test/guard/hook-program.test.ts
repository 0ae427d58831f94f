import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMailbox } from '../../src/drive/mailbox.ts';
import { readJournal } from '../../src/journal/journal.ts';
import { makeTempDir, removeTempDir } from '../../src/os/files/temp.ts';
import { barePath, fireHook, plugin } from '../support/hooks.ts';

const program = join(plugin, 'hooks/generated/guard.cjs');
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
  return fireHook(event, input, { cwd: join(room, folder), env: { ...env, ...extra } });
}

async function fire(event: string, input: object, extra: Record<string, string> = {}, folder = 'project') {
  const whole = { hook_event_name: event, session_id: 's1', cwd: join(room, folder), ...input };
  const { code, stdout, stderr } = await start(event, JSON.stringify(whole), extra, folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === '' ? null : JSON.parse(stdout).hookSpecificOutput;
}

const bash = (command: string, extra?: Record<string, string>) =>
  fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } }, extra);
const denied = {
  permissionDecision: 'deny',
  permissionDecisionReason: expect.stringContaining('ralph guard'),
};

/** A PATH with a node that kills itself, as a host or the system may do. */
function withKilledNode(): Record<string, string> {
  const bin = join(room, 'killed');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'node'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
  return { PATH: bin };
}

function set(file: string, settings: object): void {
  mkdirSync(dirname(join(room, file)), { recursive: true });
  writeFileSync(join(room, file), JSON.stringify(settings));
}

describe('the guard in the hooks of the plugin', () => {
  it('refuses a harmful command of a run and leaves word for the loop, and lets a harmless one pass', async () => {
    const inRun = { RALPH_RUN_ID: 'r1', API_TOKEN: 'tok-6a1f0c2e9b' };
    expect(await bash('rm -rf ~/notes # tok-6a1f0c2e9b', inRun)).toMatchObject(denied);
    expect(await bash('npm test && rm -rf dist', inRun)).toBeNull();
    const mailbox = openMailbox(env, 'r1', () => {});
    const denials = mailbox.takeDenials();
    mailbox.close();
    expect(denials).toMatchObject([{ tool: 'Bash', category: 'destructive-files' }]);
    expect(denials[0]?.what).toContain('rm -rf ~/notes');
    expect(denials[0]?.what).not.toContain('tok-6a1f0c2e9b');
  });

  it('keeps no half of a secret where a long command is cut', async () => {
    const secret = 'tok-6a1f0c2e9b';
    const before = 'rm -rf ~/notes # ';
    const command = `${before}${'x'.repeat(150 - before.length - 8)} ${secret} ${'y'.repeat(400)}`;
    expect(await bash(command, { RALPH_RUN_ID: 'r1', API_TOKEN: secret })).toMatchObject(denied);
    const mailbox = openMailbox(env, 'r1', () => {});
    const [{ what = '' } = {}] = mailbox.takeDenials();
    mailbox.close();
    expect(what).toMatch(/^rm -rf .*….*y$/);
    expect(what).not.toContain('tok-6a1');
  });

  it('looks at every tool but at the command of a shell alone', async () => {
    const tool_input = { file_path: join(room, 'home/.bashrc'), content: 'x', command: 'ls' };
    expect(
      await fire('PreToolUse', { tool_name: 'Write', tool_input }, { RALPH_RUN_ID: 'r1' }),
    ).toMatchObject(denied);
  });

  it.each(['', 'garbage', '{"tool_name":"Bash","tool_input":{"comm'])(
    'refuses in a run by its exit code where the event is %j',
    (input) => {
      const run = (extra: Record<string, string>) =>
        spawnSync(process.execPath, [program], { env: { ...env, ...extra }, input });
      const { status, stdout, stderr } = run({ RALPH_RUN_ID: 'r1' });
      expect([status, String(stdout)]).toEqual([2, '']);
      expect(String(stderr)).toContain('cannot be read');
      expect(run({}).status).toBe(0);
    },
  );

  it('refuses in a session that has a loop where the event breaks off, and only there', async () => {
    await fire('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const broken = (id: string) => `{"session_id":"${id}","tool_name":"Bash","tool_input":{"comm`;
    const { code, stderr } = await start('PreToolUse', broken('s1'), {});
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be read');
    expect((await start('PreToolUse', broken('s2'), {})).code).toBe(0);
  });

  it('refuses by its exit code where nobody reads its answer', async () => {
    const child = spawn(process.execPath, [program], {
      env: { ...env, RALPH_RUN_ID: 'r1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdout.destroy();
    child.stdin.end(JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }));
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(2);
  });

  it('refuses it in a session that has a loop, and writes it into the journal of the loop', async () => {
    await fire('UserPromptSubmit', { prompt: '/ralph-loop x' });
    expect(await bash('git push --force')).toMatchObject(denied);
    const sessions = join(env.HOME ?? '', '.local/state/ralph/sessions');
    const [run = ''] = readdirSync(join(sessions, 'runs'));
    const { events } = readJournal(join(sessions, 'runs', run, 'journal.ndjson'));
    expect(events.at(-1)).toMatchObject({
      type: 'guard.denied',
      iteration: 0,
      tool: 'Bash',
      what: 'git push --force',
      category: 'git',
    });
    expect(readdirSync(sessions).sort()).toEqual(['runs', 's1.json']);
  });

  it('does not even start node where there is no run, no loop and no settings', async () => {
    expect(await bash('rm -rf ~/notes', { PATH: barePath(room, 'nothing') })).toBeNull();
  });

  it.each([
    ['it is off', { RALPH_GUARD: 'off', RALPH_RUN_ID: 'r1' }, () => {}],
    ['the settings say auto', {}, () => set('project/.ralph/settings.json', { guard: 'auto' })],
    [
      'only another session has a loop',
      {},
      () => fire('UserPromptSubmit', { prompt: '/ralph-loop x', session_id: 's2' }),
    ],
  ])('has no say where %s', async (_name, extra, prepare) => {
    await prepare();
    expect(await bash('rm -rf ~/notes', extra)).toBeNull();
  });

  it('has a say from a folder inside the project whose settings say always', async () => {
    set('project/.ralph/settings.json', { guard: 'always' });
    mkdirSync(join(room, 'project/src/deep'), { recursive: true });
    const tool_input = { command: 'rm -rf ~/notes' };
    expect(await fire('PreToolUse', { tool_name: 'Bash', tool_input }, {}, 'project/src/deep')).toMatchObject(
      denied,
    );
  });

  it.each(['CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR'])(
    'has a say outside of the project that the session was started in (%s)',
    async (name) => {
      set('project/.ralph/settings.json', { guard: 'always' });
      const call = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~/notes' } };
      const there = (folder: string) => fire('PreToolUse', call, { [name]: join(room, folder) }, 'bin');
      expect(await there('project/src')).toMatchObject(denied);
      expect(await there('home')).toBeNull();
    },
  );

  it.each(['guard', 'stop'])('reads all that a host says at %s, be there nothing to do', async (event) => {
    const gate = join(plugin, 'hooks/gate.sh');
    const child = spawn('/bin/sh', [gate, event, 'codex'], { cwd: join(room, 'project'), env });
    const failure = new Promise((resolve) => child.stdin.on('error', resolve));
    const end = new Promise((resolve) => child.on('exit', resolve));
    child.stdin.end('x'.repeat(1_000_000));
    expect(await Promise.race([failure, end])).toBe(0);
  });

  it.each([
    ['in a run', { RALPH_RUN_ID: 'r1' }, () => {}],
    ['where the settings say always', {}, () => set('project/.ralph/settings.json', { guard: 'always' })],
    ['in a session that has a loop', {}, () => fire('UserPromptSubmit', { prompt: '/ralph-loop x' })],
  ])('refuses %s where it is killed', async (_name, extra, prepare) => {
    await prepare();
    const { code } = await start('PreToolUse', '{"session_id":"s1"}', { ...extra, ...withKilledNode() });
    expect(code).toBe(2);
  });

  it.each([
    ['refuses in a run', 2, { RALPH_RUN_ID: 'r1' }],
    ['lets a call pass where a person watches', 1, { RALPH_GUARD: 'always' }],
    ['lets a call pass where it may have no say', 1, { HOME: '' }],
  ])('%s without node, and says why', async (_name, expected, extra) => {
    const call = '{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls"}}';
    const { code, stderr } = await start('PreToolUse', call, { ...extra, PATH: barePath(room, 'nothing') });
    expect([code, stderr]).toEqual([
      expected,
      'ralph: node is not on the PATH, so the guard hook cannot run\n',
    ]);
  });

  it('ends before a host ends it, which would let the call pass', async () => {
    writeFileSync(join(room, 'bin/node'), '#!/bin/sh\nulimit -t\n', { mode: 0o755 });
    const inRun = { RALPH_RUN_ID: 'r1', PATH: join(room, 'bin') };
    expect((await start('PreToolUse', '{"session_id":"s1"}', inRun)).stdout).toBe('10\n');
  });

  it.each(['project/.ralph/settings.local.json', 'home/.config/ralph/settings.json'])(
    'has a say in every session if %s says always',
    async (file) => {
      set(file, { guard: 'always' });
      expect(await bash('rm -rf ~/notes')).toMatchObject(denied);
    },
  );
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../src/system/temp.ts';
import { copyBuilt } from './support/copy.ts';

const plugins = fileURLToPath(new URL('../plugins', import.meta.url));
/** Somebody who owns nothing, for whom a folder of root's cannot be written. */
const nobody = 65534;
let room: string;
let home: string;

beforeEach(() => {
  room = makeTempDir('ralph-hook-code-');
  home = join(room, 'home');
  mkdirSync(home);
});

afterEach(() => removeTempDir(room));

function copyHooks(host: string): string {
  copyBuilt(join(plugins, host, 'hooks'), join(room, host, 'hooks'));
  return join(room, host, 'hooks');
}

type Options = { readonly env?: Record<string, string>; readonly uid?: number; readonly before?: string };

/** Runs a built file as a hook does, and gives what it printed; nothing else may have been said. */
async function fire(file: string, input: object, { env = {}, uid, before = '' }: Options = {}) {
  const child = spawn('/bin/sh', ['-c', `${before} exec "$0" "$1"`, process.execPath, file], {
    cwd: home,
    env: { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdin.end(JSON.stringify({ session_id: 's', cwd: home, ...input }));
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

function kept(hooks: string): string[] {
  return readdirSync(hooks)
    .filter((name) => name.startsWith('.code-'))
    .sort();
}

/** One process in sixteen looks whether there is more to keep: tries until it is one of them. */
const withLookingPid = `until sh -c '[ $(($$ % 16)) -eq 0 ] && exec "$0" "$1"' "$0" "$1"; do :; done; exit;`;

const inRun = { RALPH_RUN_ID: 'r1', RALPH_GUARD: 'always' };
const harmful = 'npm test && rm -rf "$HOME"';

async function guardSays(hooks: string, command: string, options: Options = {}): Promise<string> {
  const input = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } };
  const env = { ...inRun, ...options.env };
  const said = await fire(join(hooks, 'guard.cjs'), input, { ...options, env });
  return said === '' ? 'nothing' : JSON.parse(said).hookSpecificOutput.permissionDecision;
}

describe.each(['claude-code', 'codex', 'gemini'])('the stop hook of %s', (host) => {
  const stop = (hooks: string, session = 's') =>
    fire(join(hooks, 'stop.cjs'), { hook_event_name: 'Stop', session_id: session });

  it('keeps its compiled code beside it once a loop went on, and says the same with it', async () => {
    // It is made five times, to get more complete; one that V8 refuses would be made again and again.
    const hooks = copyHooks(host);
    const prompt = '/ralph-loop "Fix the tests"';
    for (const session_id of ['s', 's2'])
      await fire(join(hooks, 'prompt.cjs'), { hook_event_name: 'UserPromptSubmit', session_id, prompt });
    expect(await stop(hooks, 'another')).not.toContain('Fix the tests');
    expect(kept(hooks)).toEqual([]);

    const said = await stop(hooks);
    expect(said).toContain('Fix the tests');
    const [name = '', ...more] = kept(hooks);
    expect(name).toMatch(/^\.code-stop-main\.cjs-v/);
    expect(more).toEqual([]);
    for (let i = 2; i <= 4; i++)
      expect(await stop(hooks)).toBe(said.replaceAll('iteration 1', `iteration ${i}`));
    expect(await stop(hooks, 's2')).toBe(said);
    const { ino } = statSync(join(hooks, name));
    expect(await stop(hooks, 's2')).toBe(said.replaceAll('iteration 1', 'iteration 2'));
    expect(kept(hooks)).toEqual([name]);
    expect(statSync(join(hooks, name)).ino).toBe(ino);
  });
});

describe('the compiled code of the guard', () => {
  it('gets more complete with every other command, and is left alone when it has all', async () => {
    const hooks = copyHooks('claude-code');
    const sizeAfter = async (command: string, options?: Options) => {
      await guardSays(hooks, command, options);
      const [rules = ''] = kept(hooks).filter((name) => name.startsWith('.code-guard-rules.cjs-'));
      return statSync(join(hooks, rules));
    };
    const first = await sizeAfter('cp a b');
    const second = await sizeAfter('for i in a b; do rm -rf "$i/x"; done | tee c');
    expect(second.size).toBeGreaterThan(first.size);
    for (let i = 3; i < 5; i++) expect((await sizeAfter('cp a b')).ino).not.toBe(second.ino);
    const fifth = await sizeAfter('cp a b');
    expect((await sizeAfter('cp a b')).ino).toBe(fifth.ino);
    expect((await sizeAfter('cp a b', { before: withLookingPid })).ino).toBe(fifth.ino);
    const other = 'case $1 in a) git push;; esac; x=$(date) && echo "$x" >> log';
    expect((await sizeAfter(other, { before: withLookingPid })).size).toBeGreaterThan(fifth.size);
  });

  it('is not kept where the guard has no say', async () => {
    const hooks = copyHooks('claude-code');
    expect(await guardSays(hooks, harmful, { env: { RALPH_GUARD: 'off' } })).toBe('nothing');
    expect(kept(hooks)).toEqual([]);
  });

  it.each<[string, (bytes: Buffer) => Buffer | string]>([
    ['cut short', (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ['empty', () => ''],
    ['something else', () => 'not code'],
    ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
    ['changed in the middle', (bytes) => Buffer.from(bytes).fill(0x5a, 5000, 5064)],
    ['of other sources', (bytes) => Buffer.concat([Buffer.from('0'.repeat(32)), bytes.subarray(32)])],
    ['of another V8', (bytes) => foreign(bytes)],
  ])('is made anew where it is %s', async (_what, change) => {
    const hooks = copyHooks('claude-code');
    await guardSays(hooks, harmful);
    const files = kept(hooks).map((name) => join(hooks, name));
    const whole = files.map((file) => readFileSync(file).length);
    for (const file of files) writeFileSync(file, change(readFileSync(file)));
    const changed = files.map((file) => readFileSync(file));
    expect(await guardSays(hooks, harmful)).toBe('deny');
    expect(await guardSays(hooks, 'npm test && rm -rf dist')).toBe('nothing');
    for (const [i, file] of files.entries()) {
      expect(readFileSync(file).equals(changed[i] ?? Buffer.alloc(0))).toBe(false);
      expect(readFileSync(file).length).toBeGreaterThan((whole[i] ?? 0) / 2);
    }
  });

  it('is made by one of many hooks that start at once, and all of them answer', async () => {
    const hooks = copyHooks('claude-code');
    const said = await Promise.all(Array.from({ length: 6 }, () => guardSays(hooks, harmful)));
    expect(said).toEqual(Array(6).fill('deny'));
    expect(kept(hooks).filter((name) => /\.\d+$/.test(name.replace(/^.*-/, '')))).toEqual([]);
    expect(await guardSays(hooks, harmful)).toBe('deny');
  });

  it('is not needed where the folder cannot be written', async () => {
    const hooks = copyHooks('claude-code');
    const isRoot = process.getuid?.() === 0;
    for (const folder of [dirname(room), room, dirname(hooks)]) chmodSync(folder, 0o755);
    chmodSync(hooks, 0o555);
    if (isRoot) chownSync(home, nobody, nobody);
    const as = isRoot ? { uid: nobody } : {};
    expect(await guardSays(hooks, harmful, as)).toBe('deny');
    expect(await guardSays(hooks, harmful, as)).toBe('deny');
    expect(kept(hooks)).toEqual([]);
    chmodSync(hooks, 0o755);
  });

  it('is left out where there is no space for it', async () => {
    const hooks = copyHooks('claude-code');
    expect(await guardSays(hooks, 'npm test && rm -rf dist', { before: 'ulimit -f 8;' })).toBe('nothing');
    expect(kept(hooks)).toEqual([]);
  });
});

/** V8 notes its version in the second word of each copy. */
function foreign(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (const start of [40, (40 + bytes.length) / 2])
    changed.writeUInt32LE(~bytes.readUInt32LE(start + 4) >>> 0, start + 4);
  return changed;
}

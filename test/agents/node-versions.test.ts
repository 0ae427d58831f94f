import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir, removeTempDir } from '../../src/os/files/temp.ts';
import { plugin } from '../support/hooks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The oldest that is supported, and the newest of the later lines. */
const versions = ['20.19.0', '22.23.3', '24.21.0'];
/** Somebody for whom a folder of root's is read-only. */
const nobody = 65534;

/** The path of this version of Node, from the npm package `node`; null where it cannot be installed. */
function installNode(version: string): string | null {
  const script = `import { installAgent } from './scripts/install-agents.mjs';
    console.log(await installAgent({ name: 'node', version: '${version}' }, { package: 'node', needsScripts: true }));`;
  const words = ['--input-type=module', '--eval', script];
  // Tests have a home of their own, and the cache is in that of the user.
  const env = { ...process.env, HOME: userInfo().homedir, XDG_CACHE_HOME: '' };
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: root, env, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** A copy of Node and of the built files that the user of the hooks cannot write, and a home that they can. */
function copyFiles(node: string) {
  const room = makeTempDir('ralph-node-');
  onTestFinished(() => removeTempDir(room));
  const [home, copy, bin] = [join(room, 'home'), join(room, 'a copy'), join(room, 'bin')];
  for (const folder of [home, bin]) mkdirSync(folder);
  copyFileSync(node, join(bin, 'node'));
  cpSync(plugin, join(copy, 'plugins/claude-code'), { recursive: true });
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  const isRoot = process.getuid?.() === 0;
  for (const folder of [dirname(room), room, bin]) chmodSync(folder, 0o755);
  if (isRoot) chownSync(home, nobody, nobody);
  else execFileSync('chmod', ['-R', 'a-w', copy]);
  if (!isRoot) onTestFinished(() => void execFileSync('chmod', ['-R', 'u+w', copy]));
  return { home, copy, bin, as: isRoot ? { uid: nobody, gid: nobody } : {} };
}

describe.each(versions)('with Node %s', (version) => {
  const node = installNode(version);

  it.skipIf(node === null)('the hooks work from a read-only copy with nothing but node on the PATH', () => {
    const { home, copy, bin, as } = copyFiles(node ?? '');
    const listing = readdirSync(copy, { recursive: true }).map(String).sort();
    const fire = (event: string, input: object) => {
      const { status, stdout, stderr } = spawnSync(
        '/bin/sh',
        [join(copy, 'plugins/claude-code/hooks/gate.sh'), event],
        {
          ...as,
          cwd: home,
          env: { HOME: home, PATH: bin },
          input: JSON.stringify({ session_id: 's', cwd: home, ...input }),
          encoding: 'utf8',
        },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    fire('prompt', {
      hook_event_name: 'UserPromptSubmit',
      prompt: '/ralph-loop "Fix it" --min-tool-calls 0',
    });
    expect(fire('stop', { hook_event_name: 'Stop', last_assistant_message: 'more' })).toContain('Fix it');
    const call = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'git push --force' },
    };
    for (const _time of [1, 2]) expect(fire('guard', call)).toContain('"permissionDecision":"deny"');
    const claim = { hook_event_name: 'Stop', last_assistant_message: '<promise>DONE</promise>' };
    expect(fire('stop', claim)).toContain('PROMISE_ACCEPTED');
    expect(readdirSync(copy, { recursive: true }).map(String).sort()).toEqual(listing);
    const hasCache = existsSync(join(home, '.local/state/ralph/compile-cache'));
    expect(hasCache).toBe(!version.startsWith('20.'));
  });

  it.skipIf(node === null)('the commands work from a read-only copy', () => {
    const { home, copy, bin, as } = copyFiles(node ?? '');
    const run = (...words: string[]) =>
      spawnSync(join(bin, 'node'), [join(copy, 'dist/ralph.cjs'), ...words], {
        ...as,
        cwd: home,
        env: { HOME: home, PATH: '/usr/bin:/bin' },
        encoding: 'utf8',
      });
    expect(run('--version').stdout).toMatch(/^ralph \d/);
    for (const _time of [1, 2]) {
      expect(run('runs')).toMatchObject({ status: 0, stderr: '' });
      expect(run('guard', 'check', 'git push --force')).toMatchObject({ status: 1, stderr: '' });
    }
  });
});

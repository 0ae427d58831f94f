import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtProgram } from '../support/ralph.ts';

/** Whether bubblewrap can make namespaces here; where it cannot, its suites are skipped. */
export function bwrapWorks(who: Who = self()): boolean {
  const words = ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--proc', '/proc', 'true'];
  const [program = '', ...rest] = [...who.through, 'bwrap', ...words];
  return spawnSync(program, rest, { stdio: 'ignore' }).status === 0;
}

/** Somebody who runs ralph. */
export type Who = {
  readonly name: 'root' | 'a normal user';
  /** Words before a command that make it his. */
  readonly through: readonly string[];
  readonly uid: number;
};

const normalUser = 65_534;

/** Whoever runs the tests. */
export function self(): Who {
  const uid = process.getuid?.() ?? 0;
  return { name: uid === 0 ? 'root' : 'a normal user', through: [], uid };
}

/** Root can also be a normal user; a normal user can only be himself. */
export function everybody(): Who[] {
  const me = self();
  if (me.uid !== 0) return [me];
  const through = ['setpriv', `--reuid=${normalUser}`, `--regid=${normalUser}`, '--clear-groups'];
  return [me, { name: 'a normal user', through, uid: normalUser }];
}

/** The built commands where everybody can read them. */
export function readableRalph(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'dist-'));
  cpSync(dirname(builtProgram('ralph')), join(folder, 'dist'), { recursive: true });
  for (const path of [realpathSync(tmpdir()), folder]) chmodSync(path, 0o755);
  return join(folder, 'dist', 'ralph.cjs');
}

/** Makes a folder and all in it somebody's. */
export function give(folder: string, { uid }: Who): void {
  if (uid === process.getuid?.()) return;
  chownSync(folder, uid, uid);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) give(path, { name: 'a normal user', through: [], uid });
    else if (!lstatSync(path).isSymbolicLink()) chownSync(path, uid, uid);
  }
}

export function makeFolder(prefix: string): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), prefix));
  for (const path of [realpathSync(tmpdir()), folder]) chmodSync(path, 0o755);
  return folder;
}

export function git(cwd: string, ...words: string[]): string {
  const who = ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com', '-c', 'safe.directory=*'];
  return execFileSync('git', [...who, ...words], { cwd, encoding: 'utf8' }).trim();
}

export function makeFolders(...paths: string[]): void {
  for (const path of paths) mkdirSync(path, { recursive: true });
}

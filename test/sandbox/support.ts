import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { self, type Who } from '../support/who.ts';

/** Whether bubblewrap can make namespaces here; where it cannot, its suites are skipped. */
export function bwrapWorks(who: Who = self()): boolean {
  const words = ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--proc', '/proc', 'true'];
  const [program = '', ...rest] = [...who.through, 'bwrap', ...words];
  return spawnSync(program, rest, { stdio: 'ignore' }).status === 0;
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

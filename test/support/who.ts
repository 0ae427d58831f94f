import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

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

/** Makes a folder and all in it somebody's. */
export function give(folder: string, who: Who): void {
  if (who.uid === process.getuid?.()) return;
  chownSync(folder, who.uid, who.uid);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) give(path, who);
    else if (!lstatSync(path).isSymbolicLink()) chownSync(path, who.uid, who.uid);
  }
}

let actor: Who | null = null;

/** Somebody else who runs the commands of this test; null if it is whoever runs the tests. */
export function actingUser(): Who | null {
  return actor;
}

/** Lets `makeRepo` and `runRalph` act as somebody in the tests of this block. */
export function actAs(who: Who): void {
  beforeEach(() => {
    if (who.through.length === 0) return;
    actor = who;
    chmodSync(realpathSync(tmpdir()), 0o755);
  });
  afterEach(() => {
    actor = null;
  });
}

/** Hands a folder over to the acting user, and returns his words before a command and the variables that he needs. */
export function handOver(base: string): {
  through: readonly string[];
  env: Readonly<Record<string, string>>;
} {
  if (actor === null) return { through: [], env: {} };
  const temp = join(base, 'tmp');
  mkdirSync(temp, { recursive: true });
  give(base, actor);
  return { through: actor.through, env: { TMPDIR: temp } };
}

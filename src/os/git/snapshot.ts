import { existsSync, lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../attempt.ts';
import { runGit } from './git.ts';
import type { TreeState } from './tree-state.ts';

/** Larger files, and all beyond the total, are left out of snapshots. */
const maxFileBytes = 1024 * 1024;
const maxTotalBytes = 32 * 1024 * 1024;
/** An agent may have written the hooks. */
const withoutHooks = ['-c', 'core.hooksPath=/dev/null'];
const folder = 'refs/ralph/';

export type SnapshotSpec = {
  readonly top: string;
  readonly run: string;
  /** The folder of the run: when it is gone, so are its snapshots. */
  readonly home: string;
};

/**
 * Stores the working copy as a commit below `refs/ralph/` and returns it; null if git could not. Each has the commit that
 * is checked out and the snapshot before as its parents. The contents come from us, so no filter of the repository runs.
 */
export async function keepSnapshot(
  { top, run, home }: SnapshotSpec,
  { head, files }: TreeState,
  parent: string | null,
): Promise<string | null> {
  const message = `the working copy in a run of ralph\n\n${home}\n`;
  const stdin = Buffer.concat([
    Buffer.from(`commit ${folder}${run}\nmark :1\n`),
    Buffer.from(`committer ralph <ralph@localhost> ${Math.floor(Date.now() / 1000)} +0000\n`),
    dataOf(Buffer.from(message)),
    Buffer.from(parentLines(head, parent)),
    ...changesIn(top, files.keys()),
    Buffer.from('get-mark :1\n'),
  ]);
  const words = [...withoutHooks, 'fast-import', '--quiet', '--force'];
  const result = await runGit(top, words, undefined, { stdin });
  return result.exitCode === 0 ? result.stdout.trim() : null;
}

/** A snapshot begins with the files of HEAD; without one, with none. */
function parentLines(head: string | null, parent: string | null): string {
  if (head === null) return parent === null ? '' : `from ${parent}\ndeleteall\n`;
  return `from ${head}\n${parent === null ? '' : `merge ${parent}\n`}`;
}

/** Removes the snapshots of runs that are gone, and returns the last of this run; null without one. */
export async function sweepSnapshots({ top, run }: SnapshotSpec): Promise<string | null> {
  const format = '--format=%(refname)%00%(objectname)%00%(contents:body)%00';
  const { stdout } = await runGit(top, ['for-each-ref', format, folder]);
  const refs = [...stdout.matchAll(/(refs\/ralph\/[^\0]+)\0(\w+)\0([^\0]*)\0/g)];
  const lines = refs.flatMap(([, ref, , home = '']) => (existsSync(home.trim()) ? [] : [`delete ${ref}\n`]));
  if (lines.length > 0)
    await runGit(top, [...withoutHooks, 'update-ref', '--stdin'], undefined, { stdin: lines.join('') });
  return refs.find(([, ref]) => ref === `${folder}${run}`)?.[2] ?? null;
}

/** Returns the commands of `git fast-import` that bring these files to their state on disk. */
function* changesIn(top: string, paths: Iterable<string>): Generator<Buffer> {
  let total = 0;
  for (const path of paths) {
    const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
    const name = `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
    if (stat === undefined) yield Buffer.from(`D ${name}\n`);
    else if (stat.size <= maxFileBytes && total + stat.size <= maxTotalBytes) {
      const content = attempt(() => contentOf(join(top, path), stat), null);
      if (content === null) continue;
      total += stat.size;
      const mode = stat.isSymbolicLink() ? '120000' : stat.mode & 0o100 ? '100755' : '100644';
      yield Buffer.from(`M ${mode} inline ${name}\n`);
      yield dataOf(content);
    }
  }
}

/** Null for a folder or a device. */
function contentOf(path: string, stat: Stats): Buffer | null {
  if (stat.isSymbolicLink()) return Buffer.from(readlinkSync(path));
  return stat.isFile() ? readFileSync(path) : null;
}

function dataOf(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n')]);
}

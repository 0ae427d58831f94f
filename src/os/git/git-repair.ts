import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { messageOf } from '../../core/error.ts';
import { removeIfThere } from '../files/files.ts';
import type { CommandResult } from '../process/process.ts';
import { runGit } from './git.ts';

/** A file as it has to be in the last commit, by its path from the top of the repository; null is no file. */
export type HeadFile = { readonly path: string; readonly text: string | null };

/** A file that differs there, with the object that belongs there; null if it has to be written. */
export type Stray = HeadFile & { readonly mode: string; readonly id: string | null };

type Entry = { readonly mode: string; readonly id: string };

/** Returns the files that the last commit has in another version than `start` and than `files`. */
export async function strayInHead(
  top: string,
  start: string | null,
  files: readonly HeadFile[],
): Promise<Stray[]> {
  const paths = files.map(({ path }) => path);
  const [now, then] = await Promise.all([entriesOf(top, 'HEAD', paths), entriesOf(top, start, paths)]);
  if (now === null) return [];
  return files.flatMap(({ path, text }) => {
    const [here, before] = [now.get(path), then?.get(path)];
    if (here?.id === before?.id && here?.mode === before?.mode) return [];
    const fit = text === null ? [] : idsOf(text, (here ?? before)?.id.length);
    if (text === null ? here === undefined : fit.includes(here?.id ?? '') && isFile(here)) return [];
    const same = before && fit.includes(before.id) ? before.id : null;
    return [{ path, text, mode: isFile(before) ? (before?.mode ?? plain) : plain, id: same }];
  });
}

/** Returns the text of a file in the last commit; null if there is none. */
export async function headText(top: string, path: string): Promise<string | null> {
  const result = await plumbing(top, ['cat-file', 'blob', `HEAD:${path}`]);
  return result.exitCode === 0 && !result.truncated ? result.stdout : null;
}

/**
 * Commits these files in their right versions and nothing else, without the index, hooks, filters, signature or
 * identity of the repository: an agent may have changed each of them. Returns null, or why it failed.
 */
export async function commitFiles(
  top: string,
  strays: readonly Stray[],
  message: string,
  scratch: string,
): Promise<string | null> {
  const own = { env: { ...identity, GIT_INDEX_FILE: scratch } };
  try {
    const head = await out(top, ['rev-parse', '--verify', 'HEAD^{commit}']);
    await out(top, ['read-tree', head], own);
    const words: string[][] = [];
    for (const { path, text, mode, id } of strays) {
      const blob = text === null ? null : (id ?? (await out(top, writeBlob, { stdin: text })));
      words.push(blob === null ? ['--force-remove', '--', path] : ['--cacheinfo', `${mode},${blob},${path}`]);
    }
    for (const entry of words) await out(top, ['update-index', '--add', '--replace', ...entry], own);
    const tree = await out(top, ['write-tree'], own);
    const commit = await out(top, ['commit-tree', tree, '-p', head, '-m', message], own);
    await out(top, ['update-ref', '-m', message, 'HEAD', commit, head], own);
    // The index of the repository follows as far as it can be written.
    for (const entry of words) await plumbing(top, ['update-index', '--add', '--replace', ...entry]);
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    removeIfThere(scratch);
  }
}

const plain = '100644';
const writeBlob = ['hash-object', '-w', '--no-filters', '--stdin'];
const identity = {
  GIT_AUTHOR_NAME: 'Ralph Loop',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'Ralph Loop',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
};

function isFile(entry: Entry | undefined): boolean {
  return entry?.mode === plain || entry?.mode === '100755';
}

/** Returns the object ids of a text as it is, and with the line ends that git may store. */
function idsOf(text: string, idLength = 40): string[] {
  return [text, text.replaceAll('\r\n', '\n')].map((each) => {
    const content = Buffer.from(each);
    const hash = createHash(idLength === 64 ? 'sha256' : 'sha1');
    return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
  });
}

/** Returns the entries of a commit at these paths; null if there is no such commit. */
async function entriesOf(
  top: string,
  commit: string | null,
  paths: readonly string[],
): Promise<Map<string, Entry> | null> {
  if (commit === null) return null;
  const result = await plumbing(top, ['ls-tree', '-z', '--full-tree', commit, '--', ...paths]);
  if (result.exitCode !== 0) return null;
  return new Map(
    result.stdout.split('\0').flatMap((line) => {
      const [about = '', path = ''] = line.split('\t');
      const [mode = '', , id = ''] = about.split(' ');
      return paths.includes(path) ? [[path, { mode, id }]] : [];
    }),
  );
}

async function out(top: string, args: readonly string[], more: More = {}): Promise<string> {
  const result = await plumbing(top, args, more);
  if (result.exitCode === 0) return result.stdout.trim();
  throw new Error((result.stderr.trim() || result.error?.message || `git ${args[0]} failed`).split('\n')[0]);
}

type More = { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string };

/** Runs git in this repository and in no other, whatever its configuration says. */
function plumbing(top: string, args: readonly string[], more: More = {}): Promise<CommandResult> {
  const settings = ['core.hooksPath=/dev/null', 'core.bare=false', 'core.splitIndex=false', 'gc.auto=0'];
  const words = [...settings.flatMap((each) => ['-c', each]), ...args];
  const here = { GIT_CEILING_DIRECTORIES: dirname(top), GIT_NO_REPLACE_OBJECTS: '1' };
  return runGit(top, words, 60_000, { ...more, env: { ...here, ...more.env } });
}

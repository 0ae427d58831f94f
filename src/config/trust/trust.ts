import { homedir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import * as v from 'valibot';
import { agents } from '../../agents/registry.ts';
import { sha256 } from '../../os/crypto.ts';
import {
  ensureDir,
  isFolder,
  listDir,
  lstatOf,
  readJsonAs,
  removeIfThere,
  tryReadText,
  writeAtomic,
} from '../../os/files/files.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { findRepository, inMainWorkingCopy, trackedPaths } from '../../os/git/git.ts';
import type { Environment } from '../../os/process/program.ts';
import { trustPath } from '../paths.ts';
import { localFile, projectFile, readSettingsText } from '../settings-layers.ts';
import { guardFile, powersOf, promptFiles } from './powers.ts';

type ProjectFile = { readonly file: string; readonly powers: readonly string[] };

export type ProjectTrust = {
  /** The folder that the record is about: for a linked worktree, the one of the main working copy. */
  readonly folder: string;
  /** Files with powers that came with the folder: git or an archive brought them. */
  readonly strangers: readonly ProjectFile[];
  /** Powers since the user last trusted these files: new ones, and those that are gone. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly isTrusted: boolean;
};

const settingsFiles: readonly string[] = [projectFile, localFile];

/** `own` is true if the user made the file, false if the user trusts its maker. */
const entrySchema = v.object({ digest: v.string(), powers: v.array(v.string()), own: v.boolean() });
type TrustEntry = v.InferOutput<typeof entrySchema>;

/** What the user trusts in a folder, by file. */
const recordSchema = v.object({
  v: v.literal(1),
  path: v.string(),
  files: v.record(v.string(), entrySchema),
});

/** Finds out which files of a project a stranger brought, what they can do, and whether the user trusts that. */
export async function examineTrust(cwd: string, env: Environment): Promise<ProjectTrust> {
  const folder = inMainWorkingCopy(cwd);
  const files = filesWithPowers(cwd);
  // Most folders have none; then the record is not read, whose path needs a hash, and git is not asked.
  if (files.length === 0) return { folder, strangers: [], added: [], removed: [], isTrusted: true };
  const record = readTrust(env, folder);
  const isForeign = await originOf(files, cwd, env);
  const strangers = files.filter(({ file, powers }) => {
    const entry = record[file];
    // A file that came with the folder stays a stranger's, though an agent may have taken it out of git.
    if (entry?.own === false) return true;
    return entry?.digest !== digestOf(powers) && isForeign(file);
  });
  const lines = (list: readonly ProjectFile[]) =>
    list.flatMap(({ file, powers }) => powers.map((power) => `${file}: ${power}`));
  const now = lines(strangers);
  const before = lines(strangers.map(({ file }) => ({ file, powers: record[file]?.powers ?? [] })));
  const isTrusted = strangers.every(({ file, powers }) => record[file]?.digest === digestOf(powers));
  return {
    folder,
    strangers,
    added: now.filter((line) => !before.includes(line)),
    removed: before.filter((line) => !now.includes(line)),
    isTrusted: isTrusted || env.RALPH_TRUST === '1',
  };
}

export function trustProject(env: Environment, { folder, strangers }: ProjectTrust): void {
  const entries = strangers.map(({ file, powers }) => [file, entryOf(powers, false)]);
  addTrust(env, folder, Object.fromEntries(entries));
}

/** Records that the user made a file: call it after ralph wrote one for them. */
export function keepOwnFile(env: Environment, cwd: string, file: string): void {
  const folder = inMainWorkingCopy(cwd);
  const { powers } = powersIn(cwd, file);
  if (powers.length > 0) addTrust(env, folder, { [file]: entryOf(powers, true) });
}

export function revokeTrust(env: Environment, { folder }: ProjectTrust): void {
  removeIfThere(trustPath(env, folder));
}

/** Reads the record of a folder. A torn one trusts nothing. */
function readTrust(env: Environment, folder: string): Readonly<Record<string, TrustEntry>> {
  const record = readJsonAs(trustPath(env, folder), recordSchema);
  return record?.path === folder ? record.files : {};
}

function addTrust(env: Environment, folder: string, entries: Readonly<Record<string, TrustEntry>>): void {
  const path = trustPath(env, folder);
  const files = { ...readTrust(env, folder), ...entries };
  ensureDir(dirname(path));
  writeAtomic(path, `${JSON.stringify({ v: 1, path: folder, files }, null, 2)}\n`);
}

function entryOf(powers: readonly string[], own: boolean): TrustEntry {
  return { digest: digestOf(powers), powers: [...powers], own };
}

function digestOf(powers: readonly string[]): string {
  return sha256(JSON.stringify([...powers].sort()));
}

/** Returns how to tell files that came with the folder: git tracks them, or it is not there to tell. */
async function originOf(
  files: readonly ProjectFile[],
  cwd: string,
  env: Environment,
): Promise<(file: string) => boolean> {
  const here = realPath(cwd);
  const top = findRepository(here);
  // A home that is a repository says nothing about what lies in it.
  const isCopy = top !== null && !isWithin(realPath(env.HOME || homedir()), top);
  const names = files.map(({ file }) => file);
  const tracked = isCopy ? await trackedPaths(here, names) : null;
  return (file) => {
    const path = join(here, file);
    if (tracked === null || realPath(path) !== path || findRepository(dirname(path)) !== top) return true;
    return tracked.some((name) => isWithin(name.toLowerCase(), file.toLowerCase()));
  };
}

function filesWithPowers(cwd: string): ProjectFile[] {
  const here = realPath(cwd);
  const top = findRepository(here) ?? here;
  // Hosts look for theirs at the top of the working copy, too.
  const hosts = [...new Set([here, top])].flatMap((folder) =>
    Object.values(agents).flatMap(({ sandbox: { projectSettings, loads = [], heads = [] } }) => [
      ...projectSettings.map((name) => join(folder, name)),
      ...loads.flatMap((name) => filesIn(join(folder, name))),
      ...heads.flatMap((name) => filesIn(join(folder, name))).filter(mayHaveHead),
    ]),
  );
  const names = hosts.map((path) => relative(here, path).split(sep).join('/'));
  return [...new Set([...settingsFiles, guardFile, ...promptFiles, ...names])]
    .map((file) => powersIn(cwd, file))
    .filter(({ powers }) => powers.length > 0);
}

function powersIn(cwd: string, file: string): ProjectFile {
  const path = join(cwd, file);
  const text = settingsFiles.includes(file) ? readSettingsText(path, file) : tryReadText(path);
  if (text !== null) return { file, powers: powersOf(file, text) };
  // An agent may read what we cannot: a large file, or one behind a link.
  return { file, powers: lstatOf(path) === null ? [] : ['could not be read, and may be anything'] };
}

/** Returns the files below a folder; the path itself if it is a file, or cannot be listed. */
function filesIn(folder: string): string[] {
  if (!isFolder(folder)) return lstatOf(folder) === null ? [] : [folder];
  try {
    const paths = listDir(folder).map((name) => join(folder, name));
    return paths.flatMap((path) => (lstatOf(path)?.isDirectory() ? filesIn(path) : [path]));
  } catch {
    return [folder];
  }
}

/** Links count, too: they may lead to a folder. */
function mayHaveHead(path: string): boolean {
  return path.endsWith('.md') || lstatOf(path)?.isSymbolicLink() === true;
}

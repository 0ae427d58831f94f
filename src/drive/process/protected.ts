import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import type { Fingerprints } from '../../core/file-evidence.ts';
import { contentMark } from '../../os/files/file-marks.ts';
import { walkFiles } from '../../os/files/walk.ts';
import { matchesGlob } from './glob.ts';

/** Folders that are skipped unless a pattern names them: installed packages change often, and our own files are restored anyway. */
const onlyByName = ['.ralph', 'node_modules'];
/** Files in our folder that the loop itself changes. */
const changing =
  /(?:^|\/)\.ralph\/(?:runs\/|guardrail_[^/]*\.log$|lock[^/]*$|(?:blocked|decide|answer)\.txt$|[^/]*\.bad-\d|\.[^/]*\.tmp$)/;

export function protectedFingerprints(cwd: string, patterns: readonly string[]): Fingerprints {
  if (patterns.length === 0) return {};
  return Object.fromEntries(
    [...protectable(cwd, patterns)]
      .filter(({ by }) => by.length > 0)
      .map(({ path }) => [path, contentMark(join(cwd, path))]),
  );
}

/** Returns the patterns that match no file, and so protect nothing. */
export function unmatchedPatterns(cwd: string, patterns: readonly string[]): string[] {
  const open = new Set(patterns);
  for (const { by } of protectable(cwd, patterns)) {
    for (const pattern of by) open.delete(pattern);
    if (open.size === 0) break;
  }
  return [...open];
}

/** Yields the files of the working copy, each with the patterns that protect it. */
function* protectable(
  cwd: string,
  patterns: readonly string[],
): Generator<{ readonly path: string; readonly by: readonly string[] }> {
  const tests = patterns.map((pattern) => ({ pattern, matches: protects(pattern) }));
  const skipped = onlyByName.filter((folder) => !patterns.some((pattern) => names(pattern, folder)));
  for (const path of walkFiles(cwd, new Set(['.git', ...skipped]))) {
    if (changing.test(path)) continue;
    yield { path, by: tests.filter(({ matches }) => matches(path)).map(({ pattern }) => pattern) };
  }
}

/** Fails for patterns that cannot be protected. */
export function refuseGit(patterns: readonly string[]): void {
  const pattern = patterns.find((each) => names(each, '.git'));
  if (pattern === undefined) return;
  throw new RalphError(
    'protected-git',
    `protectedPaths cannot have "${pattern}": git changes its own files with every command.`,
    { remedy: 'take it out of protectedPaths in .ralph/settings.json' },
  );
}

function protects(pattern: string): (path: string) => boolean {
  const matches = matchesGlob(pattern);
  const closed = onlyByName.filter((folder) => !names(pattern, folder));
  return (path) => matches(path) && !closed.some((folder) => names(path, folder));
}

function names(path: string, folder: string): boolean {
  return path.split(/[\\/]/).includes(folder);
}

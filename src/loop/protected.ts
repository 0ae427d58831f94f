import { join } from 'node:path';
import { RalphError } from '../core/error.ts';
import type { Check } from '../core/evidence.ts';
import { matchesGlob } from '../core/glob.ts';
import { contentMark } from '../system/file-marks.ts';
import { ensureDir, readJson, writeAtomic } from '../system/files.ts';
import { walkFiles } from '../system/walk.ts';

export type ProtectedFiles = { check(): Check | null };

/** Path to mark of content. */
type Fingerprints = Readonly<Record<string, string>>;

const shown = 20;
/** Not looked at unless a pattern names them: what is installed changes often, and what is ours is held anyway. */
const onlyByName = ['.ralph', 'node_modules'];
/** What changes in our folder while the loop does its work. */
const changing =
  /(?:^|\/)\.ralph\/(?:runs\/|guardrail_[^/]*\.log$|lock[^/]*$|(?:blocked|decide|answer)\.txt$|[^/]*\.bad-\d|\.[^/]*\.tmp$)/;

/** Remembers the protected files as they are at the start of the run; a resumed run remembers the same. */
export function protectFiles(
  cwd: string,
  patterns: readonly string[],
  record: { readonly folder: string; readonly file: string; readonly resumed?: boolean },
): ProtectedFiles {
  if (patterns.length === 0) return { check: () => null };
  refuseGit(patterns);
  const look = (): Fingerprints =>
    Object.fromEntries(
      [...protectable(cwd, patterns)]
        .filter(({ by }) => by.length > 0)
        .map(({ path }) => [path, contentMark(join(cwd, path))]),
    );
  const found = recorded(record.file);
  const lost = found === 'missing' && record.resumed;
  if (found === 'damaged' || lost) {
    const failed = noBase(lost ? 'missing' : 'damaged');
    return { check: () => failed };
  }
  const before = found === 'missing' ? look() : found;
  ensureDir(record.folder);
  writeAtomic(record.file, `${JSON.stringify(before)}\n`, { fsync: false, root: cwd });
  return { check: () => compare(before, look()) };
}

/** Patterns that match no file, and so protect nothing. */
export function unmatchedPatterns(cwd: string, patterns: readonly string[]): string[] {
  const open = new Set(patterns);
  for (const { by } of protectable(cwd, patterns)) {
    for (const pattern of by) open.delete(pattern);
    if (open.size === 0) break;
  }
  return [...open];
}

/** The files of the working copy, each with the patterns that protect it. */
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

function refuseGit(patterns: readonly string[]): void {
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

function compare(before: Fingerprints, after: Fingerprints): Check {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = paths
    .filter((path) => before[path] !== after[path])
    .map((path) => describe(path, before, after));
  const check = 'protected-paths';
  if (changed.length === 0)
    return { check, ok: true, detail: `as they were (${Object.keys(before).length})` };
  const more = changed.length > shown ? [`and ${changed.length - shown} more`] : [];
  const list = [...changed.slice(0, shown), ...more];
  const text = `Your claim was rejected because files that you may not change were changed:\n${list
    .map((line) => `- ${line}`)
    .join('\n')}\nPut them back as they were, then finish the task without changing them.`;
  return { check, ok: false, detail: list.join(', '), feedback: { action: 'APPEND', text } };
}

function describe(path: string, before: Fingerprints, after: Fingerprints): string {
  if (!(path in before)) return `${path} (added)`;
  return path in after ? `${path} (changed)` : `${path} (removed)`;
}

/** Today's files are no base to judge by: the agent has worked on them. */
function noBase(how: 'missing' | 'damaged'): Check {
  const detail = `the record of the protected files is ${how}; start a new run`;
  const text = `Your claim was rejected: ${detail}. You cannot mend this, a human has to.`;
  return { check: 'protected-paths', ok: false, detail, feedback: { action: 'APPEND', text } };
}

function recorded(file: string): Fingerprints | 'missing' | 'damaged' {
  const read = readJson(file);
  if (!read.ok) return read.reason === 'missing' ? 'missing' : 'damaged';
  return isFingerprints(read.value) ? read.value : 'damaged';
}

function isFingerprints(value: unknown): value is Fingerprints {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((mark) => typeof mark === 'string');
}

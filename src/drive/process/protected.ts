import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import type { Check } from '../../core/evidence.ts';
import { contentMark } from '../../os/files/file-marks.ts';
import { ensureDir, readJson, writeAtomic } from '../../os/files/files.ts';
import { walkFiles } from '../../os/files/walk.ts';
import { matchesGlob } from './glob.ts';

export type ProtectedFiles = { check(): Check | null };

/** Path to mark of content. */
type Fingerprints = Readonly<Record<string, string>>;

const mostFiles = 20;
/** Folders that are skipped unless a pattern names them: installed packages change often, and our own files are restored anyway. */
const onlyByName = ['.ralph', 'node_modules'];
/** Files in our folder that the loop itself changes. */
const changing =
  /(?:^|\/)\.ralph\/(?:runs\/|guardrail_[^/]*\.log$|lock[^/]*$|(?:blocked|decide|answer)\.txt$|[^/]*\.bad-\d|\.[^/]*\.tmp$)/;

/** Records the protected files at the start of the run; a resumed run uses the same record. */
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
  const stored = readFingerprints(record.file);
  const isLost = stored === 'missing' && record.resumed;
  if (stored === 'damaged' || isLost) {
    const failure = noBase(isLost ? 'missing' : 'damaged');
    return { check: () => failure };
  }
  const before = stored === 'missing' ? look() : stored;
  ensureDir(record.folder);
  writeAtomic(record.file, `${JSON.stringify(before)}\n`, { fsync: false, root: cwd });
  return { check: () => compare(before, look()) };
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
  const more = changed.length > mostFiles ? [`and ${changed.length - mostFiles} more`] : [];
  const list = [...changed.slice(0, mostFiles), ...more];
  const text = `Your claim was rejected because files that you may not change were changed:\n${list
    .map((line) => `- ${line}`)
    .join('\n')}\nPut them back as they were, then finish the task without changing them.`;
  return { check, ok: false, detail: list.join(', '), feedback: { action: 'APPEND', text } };
}

function describe(path: string, before: Fingerprints, after: Fingerprints): string {
  if (!(path in before)) return `${path} (added)`;
  return path in after ? `${path} (changed)` : `${path} (removed)`;
}

/** Returns the check of a run without its record: today's files are no base, since the agent has worked on them. */
function noBase(how: 'missing' | 'damaged'): Check {
  const detail = `the record of the protected files is ${how}; start a new run`;
  const text = `Your claim was rejected: ${detail}. You cannot mend this, a human has to.`;
  return { check: 'protected-paths', ok: false, detail, feedback: { action: 'APPEND', text } };
}

function readFingerprints(file: string): Fingerprints | 'missing' | 'damaged' {
  const content = readJson(file);
  if (!content.ok) return content.reason === 'missing' ? 'missing' : 'damaged';
  return isFingerprints(content.value) ? content.value : 'damaged';
}

function isFingerprints(value: unknown): value is Fingerprints {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((mark) => typeof mark === 'string');
}

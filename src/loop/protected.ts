import { join } from 'node:path';
import type { Check } from '../core/evidence.ts';
import { matchesGlob } from '../core/glob.ts';
import { contentMark } from '../system/file-marks.ts';
import { ensureDir, readJson, writeAtomic } from '../system/files.ts';
import { walkFiles } from '../system/walk.ts';

export type ProtectedFiles = { check(): Check | null };

/** Path to mark of content. */
type Fingerprints = Readonly<Record<string, string>>;

const shown = 20;
/** Built files may be protected; git's and our own change by themselves. */
const ours: ReadonlySet<string> = new Set(['.git', '.ralph', 'node_modules']);

/** Remembers the protected files as they are at the start of the run; a resumed run remembers the same. */
export function protectFiles(
  cwd: string,
  patterns: readonly string[],
  record: { readonly folder: string; readonly file: string },
): ProtectedFiles {
  if (patterns.length === 0) return { check: () => null };
  const tests = patterns.map(matchesGlob);
  const look = (): Fingerprints =>
    Object.fromEntries(
      [...walkFiles(cwd, ours)]
        .filter((path) => tests.some((test) => test(path)))
        .map((path) => [path, contentMark(join(cwd, path))]),
    );
  const before = recorded(record.file) ?? look();
  ensureDir(record.folder);
  writeAtomic(record.file, `${JSON.stringify(before)}\n`, { fsync: false });
  return { check: () => compare(before, look()) };
}

/** Patterns that match no file, and so protect nothing. */
export function unmatchedPatterns(cwd: string, patterns: readonly string[]): string[] {
  const open = new Map(patterns.map((pattern) => [pattern, matchesGlob(pattern)]));
  for (const path of walkFiles(cwd, ours)) {
    for (const [pattern, matches] of open) if (matches(path)) open.delete(pattern);
    if (open.size === 0) break;
  }
  return [...open.keys()];
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

function recorded(file: string): Fingerprints | null {
  const read = readJson(file);
  return read.ok && typeof read.value === 'object' && read.value !== null
    ? (read.value as Fingerprints)
    : null;
}

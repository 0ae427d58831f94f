import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { checkFileKind } from '../../core/check-files.ts';
import type { Check } from '../../core/evidence.ts';
import {
  type CheckChange,
  changesBetween,
  checkFilesEvidence,
  type FileChange,
  type Fingerprints,
  noBaseEvidence,
  protectedEvidence,
} from '../../core/file-evidence.ts';
import type { IterationView } from '../../journal/run-view.ts';
import { ensureDir, lstatOf, readJson, writeAtomic } from '../../os/files/files.ts';
import { grownSince } from '../../os/git/git-diff.ts';
import { type CheckCommands, checkFingerprints, shadowsProgram } from './check-definitions.ts';
import { protectedFingerprints, refuseGit } from './protected.ts';

export type WatchedFiles = {
  /** Compares the files with the start of the run, as evidence about a claim. */
  check(iterations: readonly IterationView[]): Promise<Check[]>;
};

type Watch = CheckCommands & {
  readonly protectedPaths: readonly string[];
  readonly protectChecks: boolean;
};

const marks = v.record(v.string(), v.string());
const recordSchema = v.object({ paths: marks, checks: marks });
type FileRecord = v.InferOutput<typeof recordSchema>;

/** Records the protected files, and those that define the checks, at the start of the run; a resumed run uses the same record. */
export function watchFiles(
  watch: Watch,
  record: {
    readonly file: string;
    /** Folder below which no link is followed; the working copy if left out. */
    readonly root?: string;
    readonly resumed?: boolean;
  },
): WatchedFiles {
  const { cwd, protectedPaths, commands, protectChecks } = watch;
  const hasPaths = protectedPaths.length > 0;
  const hasChecks = commands.length > 0;
  if (!hasPaths && !hasChecks) return { check: async () => [] };
  refuseGit(protectedPaths);
  const look = (): FileRecord => ({
    paths: protectedFingerprints(cwd, protectedPaths),
    checks: checkFingerprints(watch),
  });
  const stored = readRecord(record.file);
  const lost = stored === 'missing' && record.resumed ? 'missing' : stored === 'damaged' ? 'damaged' : null;
  if (lost !== null) {
    const checks = [
      ...(hasPaths ? [noBaseEvidence('protected-paths', lost)] : []),
      ...(hasChecks ? [noBaseEvidence('check-files', lost, protectChecks)] : []),
    ];
    return { check: async () => checks };
  }
  const before = typeof stored === 'string' ? look() : stored;
  ensureDir(dirname(record.file));
  writeAtomic(record.file, `${JSON.stringify(before)}\n`, { fsync: false, root: record.root ?? cwd });
  return {
    async check(iterations) {
      const now = look();
      const paths = () => protectedEvidence(changesBetween(before.paths, now.paths), countOf(before.paths));
      const changes = changesBetween(before.checks, now.checks);
      return [
        ...(hasPaths ? [paths()] : []),
        ...(hasChecks ? [await checkEvidence(watch, before.checks, changes, iterations)] : []),
      ];
    },
  };
}

async function checkEvidence(
  watch: Watch,
  before: Fingerprints,
  changes: readonly FileChange[],
  iterations: readonly IterationView[],
): Promise<Check> {
  const isTest = ({ path }: FileChange) => checkFileKind(path) === 'test';
  const edited = changes.filter((change) => change.how === 'changed' && isTest(change));
  const start = iterations[0]?.from ?? null;
  const grown = await grownSince(
    watch.cwd,
    start,
    edited.map(({ path }) => path),
  );
  const isNormal = (change: FileChange): boolean => {
    const { path, how } = change;
    if (how !== 'added') return grown.has(path);
    if (isTest(change)) return true;
    const manifest = manifestOf(path);
    // A package that is new as a whole.
    if (manifest !== null) return !Object.keys(before).some((other) => manifestOf(other) === manifest);
    return checkFileKind(path) === null && !shadowsProgram(path, watch);
  };
  const result = changes.map((change): CheckChange => {
    const file = join(watch.cwd, manifestOf(change.path) ?? change.path);
    return { ...change, isNormal: isNormal(change), iteration: iterationOf(file, iterations) };
  });
  return checkFilesEvidence(result, { count: countOf(before), isProtected: watch.protectChecks });
}

/** Returns the package.json of `package.json scripts.test`; null for a file. */
function manifestOf(path: string): string | null {
  return /^(?:.*\/)?package\.json(?= \S+$)/.exec(path)?.[0] ?? null;
}

/** Returns the iteration in which a file was written last, by the clock of the file system. */
function iterationOf(file: string, iterations: readonly IterationView[]): number | null {
  const at = (lstatOf(file) ?? lstatOf(join(file, '..')))?.ctimeMs;
  // Such a clock may be some milliseconds behind.
  const slackMs = 20;
  const match = iterations.findLast(
    ({ startedAt, endedAt }) =>
      at !== undefined && startedAt - slackMs <= at && at <= (endedAt ?? Number.POSITIVE_INFINITY),
  );
  return match?.iteration ?? null;
}

function countOf(fingerprints: Fingerprints): number {
  return Object.keys(fingerprints).length;
}

function readRecord(file: string): FileRecord | 'missing' | 'damaged' {
  const content = readJson(file);
  if (!content.ok) return content.reason === 'missing' ? 'missing' : 'damaged';
  return v.is(recordSchema, content.value) ? content.value : 'damaged';
}

import type { TaskRules } from '../core/review/check.ts';
import { statusOf } from '../core/review/read-tasks.ts';
import {
  defaultReviewRules,
  iterationModes,
  type ReviewFields,
  type Snapshot,
} from '../core/review/story.ts';
import { isObject } from '../core/shape.ts';
import { lstatOf, readJson, removeIfThere, setAside, writeAtomic } from '../system/files.ts';
import { processIdentity, processStart } from '../system/process-identity.ts';
import { projectPaths } from './paths.ts';
import { activePath } from './ralph-active-path.ts';

/** What stands in `.ralph-active`, by the names that others read it by. */
export type ActivePayload = {
  readonly timestamp: string;
  readonly pid: number;
  readonly max_iterations: number;
  readonly mode: 'sandbox' | 'direct';
  readonly skipReview: boolean;
  readonly reviewCap: number;
  readonly iterationMode: NonNullable<TaskRules['iteration']>['mode'];
  readonly preIterationSnapshot: Snapshot;
};

/** What a marker tells those who only find it. */
export type ActiveMarker = {
  readonly pid: number | null;
  /** When it was written, in epoch milliseconds. */
  readonly since: number | null;
  readonly rules: TaskRules;
  /** Why the transitions of this iteration cannot be checked. */
  readonly warning: string | null;
  /** Why they can only be checked in part, though there is a snapshot: somebody has damaged it. */
  readonly problem: string | null;
};

/** The marker of the loop that works on this project, or null. One that cannot be read is still a marker. */
export function readActive(projectDir: string): ActiveMarker | null {
  const path = activePath(projectDir);
  if (lstatOf(path) === null) return null;
  const read = readJson(path);
  const value = read.ok && isObject(read.value) ? read.value : {};
  const { timestamp, pid, skipReview, reviewCap, iterationMode, preIterationSnapshot } = value;
  const since = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  // The strictest mode, where there is none of that name.
  const mode = iterationModes.find((each) => each === iterationMode) ?? 'implement';
  const { snapshot, unreadable } = snapshotIn(preIterationSnapshot);
  const missing = missingIn(value);
  return {
    pid: Number.isSafeInteger(pid) ? Number(pid) : null,
    since: Number.isNaN(since) ? null : since,
    rules: {
      skipReview: skipReview === true,
      reviewCap: capIn(reviewCap) ?? defaultReviewRules.reviewCap,
      iteration: missing === null && snapshot ? { mode, snapshot } : null,
    },
    warning: missing && `.ralph-active has no ${missing}: the transitions of this iteration are not checked`,
    problem: unreadable,
  };
}

/** The field without which no transition can be checked. */
function missingIn({
  preIterationSnapshot,
  iterationMode,
}: Readonly<Record<string, unknown>>): string | null {
  if (preIterationSnapshot === undefined || preIterationSnapshot === null) return 'preIterationSnapshot';
  return iterationMode === undefined || iterationMode === null ? 'iterationMode' : null;
}

/** A number, also as text: a script may have written it. */
function capIn(value: unknown): number | null {
  const cap = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return Number.isSafeInteger(cap) && Number(cap) > 0 ? Number(cap) : null;
}

export function writeActive(projectDir: string, payload: ActivePayload): void {
  const path = activePath(projectDir);
  const found = lstatOf(path);
  if (found && !found.isFile()) setAside(path, projectPaths(projectDir).root);
  writeAtomic(path, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o644, fsync: false });
}

/** Removes the marker, whatever an agent made of it: one loop works on a project, and it is ours. */
export function removeActive(projectDir: string): void {
  const path = activePath(projectDir);
  const found = lstatOf(path);
  if (found?.isDirectory()) setAside(path, projectPaths(projectDir).root);
  else removeIfThere(path);
}

// Times in a marker are whole seconds, and clocks of the system and of processes differ a little.
const slackMs = 5000;

/** The living process that wrote the marker: one that began later has only got its number. */
export function activeOwner({ pid, since }: Pick<ActiveMarker, 'pid' | 'since'>): number | null {
  // The first process of the system is no loop, but a handy number for an agent that wants to lock others out.
  if (pid === null || pid === 1 || processIdentity(pid) === null) return null;
  const started = processStart(pid);
  return since !== null && started !== null && started > since + slackMs ? null : pid;
}

type SnapshotRead = { readonly snapshot: Snapshot | null; readonly unreadable: string | null };

/** What can be read of a snapshot counts; what is missing of a story is as it is at the start of one. */
export function snapshotIn(value: unknown): SnapshotRead {
  if (value === undefined || value === null) return { snapshot: null, unreadable: null };
  if (!isObject(value))
    return { snapshot: null, unreadable: 'the preIterationSnapshot in .ralph-active is damaged' };
  const entries = Object.entries(value);
  const bad = entries.filter(([, fields]) => !isObject(fields)).map(([id]) => id);
  return {
    snapshot: Object.fromEntries(
      entries.flatMap(([id, fields]) => (isObject(fields) ? [[id, fieldsIn(fields)]] : [])),
    ),
    unreadable:
      bad.length === 0
        ? null
        : `the preIterationSnapshot in .ralph-active is damaged: ${bad.slice(0, 20).join(', ')}`,
  };
}

function fieldsIn({ passes, reviewStatus, reviewCount }: Readonly<Record<string, unknown>>): ReviewFields {
  return {
    passes: passes === true,
    reviewStatus: statusOf(reviewStatus),
    reviewCount: Number.isSafeInteger(reviewCount) ? Number(reviewCount) : 0,
  };
}

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
  readonly rules: TaskRules;
  /** Why the transitions of this iteration cannot be checked. */
  readonly warning: string | null;
};

/** The marker of the loop that works on this project, or null. One that cannot be read is still a marker. */
export function readActive(projectDir: string): ActiveMarker | null {
  const path = activePath(projectDir);
  if (lstatOf(path) === null) return null;
  const read = readJson(path);
  const value = read.ok && isObject(read.value) ? read.value : {};
  const { pid, skipReview, reviewCap, iterationMode, preIterationSnapshot } = value;
  const mode = iterationModes.find((each) => each === iterationMode);
  const snapshot = snapshotIn(preIterationSnapshot);
  const missing = [...(mode ? [] : ['iterationMode']), ...(snapshot ? [] : ['preIterationSnapshot'])];
  return {
    pid: Number.isSafeInteger(pid) ? Number(pid) : null,
    rules: {
      skipReview: skipReview === true,
      reviewCap:
        Number.isSafeInteger(reviewCap) && Number(reviewCap) > 0
          ? Number(reviewCap)
          : defaultReviewRules.reviewCap,
      iteration: mode && snapshot ? { mode, snapshot } : null,
    },
    warning:
      missing.length === 0
        ? null
        : `.ralph-active has no usable ${missing.join(' and ')}: the transitions of this iteration are not checked`,
  };
}

export function writeActive(projectDir: string, payload: ActivePayload): void {
  const path = activePath(projectDir);
  const found = lstatOf(path);
  if (found && !found.isFile()) setAside(path);
  writeAtomic(path, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o644, fsync: false });
}

/** Removes the marker, unless it belongs to another process. */
export function removeActive(projectDir: string, pid: number): void {
  const owner = readActive(projectDir)?.pid ?? null;
  if (owner === null || owner === pid) removeIfThere(activePath(projectDir));
}

function snapshotIn(value: unknown): Snapshot | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).map(([id, fields]) => [id, fieldsIn(fields)] as const);
  if (entries.some(([, fields]) => fields === null)) return null;
  return Object.fromEntries(entries.flatMap(([id, fields]) => (fields ? [[id, fields]] : [])));
}

function fieldsIn(value: unknown): ReviewFields | null {
  if (!isObject(value)) return null;
  const { passes, reviewStatus = null, reviewCount } = value;
  const known = statusOf(reviewStatus);
  if (typeof passes !== 'boolean' || (known === null && reviewStatus !== null)) return null;
  return Number.isSafeInteger(reviewCount)
    ? { passes, reviewStatus: known, reviewCount: Number(reviewCount) }
    : null;
}

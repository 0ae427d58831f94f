import * as v from 'valibot';
import { projectPaths } from '../../config/paths.ts';
import { isObject } from '../../core/json.ts';
import type { TaskRules } from '../../core/review/check.ts';
import {
  defaultReviewRules,
  iterationModes,
  reviewStatusSchema,
  type Snapshot,
} from '../../core/review/story.ts';
import { lstatOf, readJsonAs, removeIfThere, setAside, writeAtomic } from '../../os/files/files.ts';
import { processIdentity, processStart } from '../../os/process/process-identity.ts';
import { activePath } from './ralph-active-path.ts';

const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** Content of a marker. Other programs and agents write it, too, so a wrong field counts as its default. */
const markerSchema = v.object({
  timestamp: v.fallback(v.string(), ''),
  pid: v.fallback(v.nullable(v.pipe(v.number(), v.safeInteger())), null),
  skipReview: v.fallback(v.boolean(), false),
  /** A script may have written it as text. */
  reviewCap: v.fallback(
    v.union([positive, v.pipe(v.string(), v.transform(Number), positive)]),
    defaultReviewRules.reviewCap,
  ),
  /** Null if there is none; an unknown mode counts as the strictest one. */
  iterationMode: v.nullish(v.fallback(v.picklist(iterationModes), 'implement'), null),
  preIterationSnapshot: v.nullish(v.unknown(), null),
});

/** The review fields in a snapshot; what is missing is as it is at the start of a story. */
export const reviewFieldsSchema = v.object({
  passes: v.fallback(v.boolean(), false),
  reviewStatus: v.fallback(reviewStatusSchema, null),
  reviewCount: v.fallback(v.pipe(v.number(), v.safeInteger()), 0),
});

/** Content of `.ralph-active`; other programs read these names. */
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

/** Facts from the marker of a loop, for programs that did not start it. */
export type ActiveMarker = NonNullable<ReturnType<typeof readActive>>;

/** Reads the marker of the loop that works on this project; null if there is none. An unreadable file is still a marker. */
export function readActive(projectDir: string) {
  const path = activePath(projectDir);
  if (lstatOf(path) === null) return null;
  const marker = readJsonAs(path, markerSchema) ?? v.parse(markerSchema, {});
  const since = Date.parse(marker.timestamp);
  const { snapshot, problem } = readSnapshot(marker.preIterationSnapshot);
  const { pid, skipReview, reviewCap, iterationMode: mode } = marker;
  const rules: TaskRules = { skipReview, reviewCap, iteration: mode && snapshot ? { mode, snapshot } : null };
  const missing =
    marker.preIterationSnapshot === null ? 'preIterationSnapshot' : mode === null ? 'iterationMode' : null;
  return {
    pid,
    since: Number.isNaN(since) ? null : since,
    rules,
    /** Why the transitions of this iteration cannot be checked. */
    warning: missing && `.ralph-active has no ${missing}: the transitions of this iteration are not checked`,
    /** Why they can only be checked in part: somebody has damaged the snapshot. */
    problem,
  };
}

export function writeActive(projectDir: string, payload: ActivePayload): void {
  const path = activePath(projectDir);
  const stat = lstatOf(path);
  if (stat && !stat.isFile()) setAside(path, projectPaths(projectDir).root);
  writeAtomic(path, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o644, fsync: false });
}

/** Removes the marker, also if an agent replaced it: the only loop on this project is ours. */
export function removeActive(projectDir: string): void {
  const path = activePath(projectDir);
  const stat = lstatOf(path);
  if (stat?.isDirectory()) setAside(path, projectPaths(projectDir).root);
  else removeIfThere(path);
}

// Times in a marker are whole seconds, and clocks of the system and of processes differ a little.
const slackMs = 5000;

/** Returns the living process that wrote the marker. A process that started later only has the same number. */
export function activeOwner({ pid, since }: Pick<ActiveMarker, 'pid' | 'since'>): number | null {
  // Process 1 never is a loop; an agent could name it to lock others out.
  if (pid === null || pid === 1 || processIdentity(pid) === null) return null;
  const startedAt = processStart(pid);
  return since !== null && startedAt !== null && startedAt > since + slackMs ? null : pid;
}

/** Reads what can be read of a snapshot; `problem` says what cannot. */
function readSnapshot(value: unknown): { snapshot: Snapshot | null; problem: string | null } {
  if (value === null) return { snapshot: null, problem: null };
  const damage = 'the preIterationSnapshot in .ralph-active is damaged';
  if (!isObject(value)) return { snapshot: null, problem: damage };
  const stories = Object.entries(value).map(([id, fields]) => ({
    id,
    ...v.safeParse(reviewFieldsSchema, fields),
  }));
  const bad = stories.filter(({ success }) => !success).map(({ id }) => id);
  return {
    snapshot: Object.fromEntries(
      stories.flatMap(({ id, success, output }) => (success ? [[id, output]] : [])),
    ),
    problem: bad.length === 0 ? null : `${damage}: ${bad.slice(0, 20).join(', ')}`,
  };
}

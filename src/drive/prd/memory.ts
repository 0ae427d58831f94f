import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { stateFolder } from '../../config/paths.ts';
import { type ReviewRules, type Story, snapshotOf, type TaskList } from '../../core/review/story.ts';
import { checkTransitions } from '../../core/review/transitions.ts';
import { sha256 } from '../../os/crypto.ts';
import { ensureDir, readJsonAs, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import type { Environment } from '../../os/process/program.ts';
import { reviewFieldsSchema } from './ralph-active.ts';
import { sameCriteria } from './turn-check.ts';

/** Returns the memory if it is of this list: another project or branch in the same place is another list. */
export function memoryOf(memory: PrdMemory | null, tasks: TaskList): PrdMemory | null {
  const isSame = memory?.project === tasks.project && memory.branchName === tasks.branchName;
  return isSame ? memory : null;
}

/** True if some story still has the title that a loop first saw: a new plan has none of these. */
export function isSamePlan({ stories }: PrdMemory, { userStories }: TaskList): boolean {
  return userStories.some(({ id, title }) => Object.hasOwn(stories, id) && stories[id]?.title === title);
}

/** Returns the ids of stories that are approved, but by no review of a loop. */
export function approvedOutside(memory: PrdMemory | null, { userStories }: TaskList): string[] {
  return userStories
    .filter(({ reviewStatus }) => reviewStatus === 'approved')
    .filter(({ id }) => {
      const before = memory && Object.hasOwn(memory.checked, id) ? memory.checked[id] : undefined;
      return before?.reviewStatus !== 'approved' || memory?.outside.includes(id);
    })
    .map(({ id }) => id);
}

/** Returns a warning about new approvals that no review of a loop made; null if there are none. */
export function outsideWarning(memory: PrdMemory | null, tasks: TaskList): string | null {
  const oldIds = new Set(memory?.outside ?? []);
  const newIds = approvedOutside(memory, tasks).filter((id) => !oldIds.has(id));
  if (newIds.length === 0) return null;
  const more = newIds.length > mostIds ? ` and ${newIds.length - mostIds} more` : '';
  const list = `${newIds.slice(0, mostIds).join(', ')}${more}`;
  const were = newIds.length === 1 ? 'was' : 'were';
  return memory === null
    ? `${list} ${were} approved before this loop knew of it, and no review of this loop did it`
    : `${list} ${were} approved since the last iteration, and no review of this loop did it`;
}

const mostIds = 20;

/** Returns the memory with this list as the checked one. */
export function remembered(
  memory: PrdMemory | null,
  tasks: TaskList,
  outside: readonly string[] = memory?.outside ?? [],
  since: number | undefined = memory?.since,
): PrdMemory {
  const approvedIds = new Set(
    tasks.userStories.filter(({ reviewStatus }) => reviewStatus === 'approved').map(({ id }) => id),
  );
  const stories = tasks.userStories.map(({ id, title, description, acceptanceCriteria }) => [
    id,
    { title, description, acceptanceCriteria },
  ]);
  return {
    project: tasks.project,
    branchName: tasks.branchName,
    ...(since !== undefined && { since }),
    checked: snapshotOf(tasks),
    outside: outside.filter((id) => approvedIds.has(id)),
    verifyCommands: memory?.verifyCommands ?? tasks.verifyCommands,
    stories: { ...Object.fromEntries(stories), ...memory?.stories },
    ...(memory?.instructions && { instructions: memory.instructions }),
  };
}

/** True if one iteration can have turned the remembered list into this one. */
export function isNextOf({ checked }: PrdMemory, tasks: TaskList, rules: ReviewRules): boolean {
  const statuses = new Set(Object.values(checked).map(({ reviewStatus }) => reviewStatus));
  const other = statuses.has('needs_review') ? 'review' : 'implement';
  const mode = statuses.has('changes_requested') ? 'review-fix' : other;
  return checkTransitions(tasks, checked, mode, rules).every(({ omission }) => omission);
}

/** Describes for a reviewer what changed in the list since a loop first saw it. */
export function changesSince(
  { verifyCommands, stories }: PrdMemory,
  tasks: TaskList,
  story: Story,
): string[] {
  const first = (id: string): FirstSeen | null => (Object.hasOwn(stories, id) ? (stories[id] ?? null) : null);
  const own = first(story.id);
  const others = tasks.userStories.flatMap(({ id, passes, ...other }) => {
    const was = passes && id !== story.id ? first(id) : null;
    return was && !sameCriteria(was, other) ? [{ id, was }] : [];
  });
  return [
    ...(own && own.title !== story.title ? [`Its title was: ${own.title}`] : []),
    ...(own && own.description !== story.description ? [`Its description was: ${own.description}`] : []),
    ...(own && !sameCriteria(own, story)
      ? ['Its acceptance criteria were changed. They were:', ...criteriaLines(own)]
      : []),
    ...(JSON.stringify(verifyCommands) === JSON.stringify(tasks.verifyCommands)
      ? []
      : ['The verifyCommands were changed. They were:', ...verifyCommands.map((each) => `- ${each}`)]),
    ...others.flatMap(({ id, was }) => [
      `The acceptance criteria of ${id}, which is approved, were changed. They were:`,
      ...criteriaLines(was),
    ]),
  ];
}

function criteriaLines({ acceptanceCriteria }: Pick<FirstSeen, 'acceptanceCriteria'>): string[] {
  return acceptanceCriteria.map((each) => `- ${typeof each === 'string' ? each : JSON.stringify(each)}`);
}

const texts = v.array(v.string());

/** A story as a loop first saw it. */
const firstSeenSchema = v.object({
  title: v.string(),
  description: v.string(),
  acceptanceCriteria: v.array(v.unknown()),
});

/** Memory of loops about a task list, stored outside the project in which the agents work. */
const memorySchema = v.object({
  project: v.string(),
  branchName: v.string(),
  /** Time at which a loop first saw the list: earlier runs in the same place had another one. */
  since: v.exactOptional(v.number()),
  /** The review fields as they were when a loop last checked them. */
  checked: v.record(v.string(), reviewFieldsSchema),
  /** Stories that were approved, but by no review of a loop. */
  outside: texts,
  verifyCommands: texts,
  stories: v.record(v.string(), firstSeenSchema),
  /** Fingerprints of instruction files, as they were when the work on a story began. */
  instructions: v.exactOptional(v.object({ story: v.string(), marks: v.record(v.string(), v.string()) })),
});

type FirstSeen = Readonly<v.InferOutput<typeof firstSeenSchema>>;
export type PrdMemory = Readonly<v.InferOutput<typeof memorySchema>>;

/** Reads the memory of a task list; null if there is none that can be read. */
export function readMemory(env: Environment, tasks: string): PrdMemory | null {
  return readJsonAs(memoryPath(env, tasks), memorySchema);
}

export function keepMemory(env: Environment, tasks: string, memory: PrdMemory): void {
  const path = memoryPath(env, tasks);
  ensureDir(dirname(path));
  writeAtomic(path, `${JSON.stringify(memory)}\n`, { fsync: false });
}

export function forgetMemory(env: Environment, tasks: string): void {
  removeIfThere(memoryPath(env, tasks));
}

function memoryPath(env: Environment, tasks: string): string {
  const place = join(realPath(dirname(tasks)), 'tasks.json');
  return join(stateFolder(env), 'prd', `${sha256(place).slice(0, 16)}.json`);
}

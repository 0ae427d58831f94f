import {
  type ReviewRules,
  type ReviewStatus,
  type Story,
  snapshotOf,
  type TaskList,
} from '../core/review/story.ts';
import { checkTransitions } from '../core/review/transitions.ts';
import type { FirstSeen, PrdMemory } from '../store/prd-memory.ts';
import { sameCriteria } from './turn-check.ts';

/** What is remembered of this list; another project or branch in the same place is another list. */
export function memoryOf(stored: PrdMemory | null, tasks: TaskList): PrdMemory | null {
  const same = stored?.project === tasks.project && stored.branchName === tasks.branchName;
  return same ? stored : null;
}

/** Whether a story is still what a loop first saw under its id: a plan that replaced the old one has none of these. */
export function isSamePlan({ stories }: PrdMemory, { userStories }: TaskList): boolean {
  return userStories.some(({ id, title }) => Object.hasOwn(stories, id) && stories[id]?.title === title);
}

/** Stories that are approved, though no review of a loop did it. */
export function approvedOutside(memory: PrdMemory | null, { userStories }: TaskList): string[] {
  return userStories
    .filter(({ reviewStatus }) => reviewStatus === 'approved')
    .filter(({ id }) => {
      const before = memory && Object.hasOwn(memory.checked, id) ? memory.checked[id] : undefined;
      return before?.reviewStatus !== 'approved' || memory?.outside.includes(id);
    })
    .map(({ id }) => id);
}

/** What to tell about approvals that are new and nobody's; null where there are none. */
export function outsideWarning(memory: PrdMemory | null, tasks: TaskList): string | null {
  const known = new Set(memory?.outside ?? []);
  const fresh = approvedOutside(memory, tasks).filter((id) => !known.has(id));
  if (fresh.length === 0) return null;
  const more = fresh.length > shown ? ` and ${fresh.length - shown} more` : '';
  const list = `${fresh.slice(0, shown).join(', ')}${more}`;
  const were = fresh.length === 1 ? 'was' : 'were';
  return memory === null
    ? `${list} ${were} approved before this loop knew of it, and no review of this loop did it`
    : `${list} ${were} approved since the last iteration, and no review of this loop did it`;
}

const shown = 20;

/** The memory with this list as the one that holds. */
export function remembered(
  memory: PrdMemory | null,
  tasks: TaskList,
  outside: readonly string[] = memory?.outside ?? [],
  since: number | undefined = memory?.since,
): PrdMemory {
  const approved = new Set(
    tasks.userStories.filter(({ reviewStatus }) => reviewStatus === 'approved').map(({ id }) => id),
  );
  const seen = tasks.userStories.map(({ id, title, description, acceptanceCriteria }) => [
    id,
    { title, description, acceptanceCriteria },
  ]);
  return {
    project: tasks.project,
    branchName: tasks.branchName,
    ...(since !== undefined && { since }),
    checked: snapshotOf(tasks),
    outside: outside.filter((id) => approved.has(id)),
    verifyCommands: memory?.verifyCommands ?? tasks.verifyCommands,
    stories: { ...Object.fromEntries(seen), ...memory?.stories },
  };
}

/** Whether one iteration may have made this list of the one that is remembered. */
export function isNextOf({ checked }: PrdMemory, tasks: TaskList, rules: ReviewRules): boolean {
  const has = (status: ReviewStatus) =>
    Object.values(checked).some(({ reviewStatus }) => reviewStatus === status);
  const mode = has('changes_requested') ? 'review-fix' : has('needs_review') ? 'review' : 'implement';
  return checkTransitions(tasks, checked, mode, rules).every(({ omission }) => omission);
}

/** What became another thing than it was when a loop first saw it, for whoever reviews a story now. */
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

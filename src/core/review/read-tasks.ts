import { isObject } from '../shape.ts';
import { hasText, type ReviewStatus, type Story, type TaskList, type TaskProblem } from './story.ts';

export type TasksRead =
  | { readonly ok: true; readonly tasks: TaskList }
  | { readonly ok: false; readonly problems: readonly TaskProblem[] };

type Json = Readonly<Record<string, unknown>>;
type Rule = { readonly expected: string; readonly fits: (value: unknown) => boolean };

const text: Rule = { expected: 'a text', fits: (value) => typeof value === 'string' };
const texts: Rule = {
  expected: 'a list of texts',
  fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
};
const statuses: readonly unknown[] = ['needs_review', 'changes_requested', 'approved', null];

const listRules: Readonly<Record<string, Rule>> = {
  project: text,
  branchName: text,
  description: text,
  userStories: { expected: 'a list of stories', fits: Array.isArray },
};

const storyRules: Readonly<Record<string, Rule>> = {
  id: { expected: 'a text that is not empty', fits: (value) => typeof value === 'string' && hasText(value) },
  title: text,
  passes: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
  priority: { expected: 'a number', fits: Number.isFinite },
  acceptanceCriteria: {
    expected: 'a list with at least one criterion that says something',
    fits: (value) => Array.isArray(value) && value.some(saysSomething),
  },
  reviewStatus: {
    expected: 'null, "needs_review", "changes_requested" or "approved"',
    fits: (value) => statuses.includes(value),
  },
  reviewCount: {
    expected: 'a non-negative integer',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  reviewFeedback: text,
};

/** A text, or an object that holds one. */
function saysSomething(criterion: unknown): boolean {
  const values: unknown[] = isObject(criterion) ? Object.values(criterion) : [criterion];
  return values.some((value) => typeof value === 'string' && hasText(value));
}

/** Check 1: whether any JSON value is a task list. All that is wrong is told at once. */
export function readTasks(value: unknown): TasksRead {
  if (!isObject(value))
    return { ok: false, problems: [problem(`it has to be an object, but is ${kindOf(value)}`)] };
  const { userStories } = value;
  const stories: readonly unknown[] = Array.isArray(userStories) ? userStories : [];
  const problems = [
    ...breaches(value, listRules, ''),
    ...optionalBreaches(value, { verifyCommands: texts }, ''),
    ...stories.flatMap(storyProblems),
    ...duplicates(stories),
  ];
  if (problems.length > 0) return { ok: false, problems: problems.map(problem) };
  return { ok: true, tasks: tasksOf(value, stories.filter(isObject)) };
}

function storyProblems(story: unknown, index: number): string[] {
  if (!isObject(story)) return [`story number ${index + 1} has to be an object, but is ${kindOf(story)}`];
  const name = `Story ${typeof story.id === 'string' && hasText(story.id) ? story.id : `number ${index + 1}`}: `;
  const found = [
    ...breaches(story, storyRules, name),
    ...optionalBreaches(story, { notes: text, description: text, dependsOn: texts }, name),
  ];
  const undocumented = story.passes === true && !(typeof story.notes === 'string' && hasText(story.notes));
  return undocumented
    ? [...found, `${name}passes is true, but notes is empty: say there what was done`]
    : found;
}

function breaches(value: Json, rules: Readonly<Record<string, Rule>>, name: string): string[] {
  return Object.entries(rules).flatMap(([field, { expected, fits }]) => {
    if (!Object.hasOwn(value, field)) return [`${name}the required field '${field}' is missing`];
    if (fits(value[field])) return [];
    return [`${name}'${field}' has to be ${expected}, but is ${show(value[field])}`];
  });
}

function optionalBreaches(value: Json, rules: Readonly<Record<string, Rule>>, name: string): string[] {
  const present = Object.entries(rules).filter(
    ([field]) => value[field] !== undefined && value[field] !== null,
  );
  return breaches(value, Object.fromEntries(present), name);
}

function duplicates(stories: readonly unknown[]): string[] {
  const ids = stories.flatMap((story) => (isObject(story) && typeof story.id === 'string' ? [story.id] : []));
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...twice].map((id) => `Story ${id}: duplicate id, ids have to be unique`);
}

function problem(text: string): TaskProblem {
  return { rule: 'schema', text };
}

function tasksOf(value: Json, stories: readonly Json[]): TaskList {
  return {
    project: String(value.project),
    branchName: String(value.branchName),
    description: String(value.description),
    verifyCommands: textsIn(value.verifyCommands),
    userStories: stories.map(storyOf),
  };
}

function storyOf(story: Json): Story {
  return {
    id: String(story.id),
    title: String(story.title),
    passes: story.passes === true,
    description: typeof story.description === 'string' ? story.description : '',
    priority: Number(story.priority),
    acceptanceCriteria: Array.isArray(story.acceptanceCriteria) ? story.acceptanceCriteria : [],
    reviewStatus: statusOf(story.reviewStatus),
    reviewCount: Number(story.reviewCount),
    reviewFeedback: String(story.reviewFeedback),
    notes: typeof story.notes === 'string' ? story.notes : '',
    dependsOn: textsIn(story.dependsOn),
  };
}

/** A status as it may stand in a file; anything else is null. */
export function statusOf(value: unknown): ReviewStatus | null {
  return value === 'needs_review' || value === 'changes_requested' || value === 'approved' ? value : null;
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

const shownChars = 80;

function show(value: unknown): string {
  const json = jsonOf(value);
  return json.length > shownChars ? `${json.slice(0, shownChars)}…` : json;
}

/** What is nested too deeply cannot be printed. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return kindOf(value);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

import * as v from 'valibot';
import { isObject } from '../json.ts';
import { shorten } from '../text.ts';
import { hasText, type TaskList, type TaskProblem, taskListSchema } from './story.ts';

export type TasksRead =
  | { readonly ok: true; readonly tasks: TaskList }
  | { readonly ok: false; readonly problems: readonly TaskProblem[] };

/** Check 1: reads any JSON value as a task list, and lists all its problems at once. */
export function readTasks(value: unknown): TasksRead {
  const { success, output, issues = [] } = v.safeParse(taskListSchema, value);
  const problems = new Set([...issues.map(describeIssue), ...duplicates(value)]);
  if (success && problems.size === 0) return { ok: true, tasks: output };
  return { ok: false, problems: [...problems].map((text) => ({ rule: 'schema', text })) };
}

function describeIssue({ path, input, message }: v.BaseIssue<unknown>): string {
  const [field, story, storyField] = path ?? [];
  if (field === undefined) return `it has to be ${message}, but is ${kindOf(input)}`;
  if (field.key !== 'userStories' || story === undefined) return describeField(field, message);
  const name = nameOf(story.value, Number(story.key));
  if (storyField !== undefined) return `Story ${name}: ${describeField(storyField, message)}`;
  if (isObject(story.value)) return `Story ${name}: ${message}`;
  return `story ${name} has to be ${message}, but is ${kindOf(story.value)}`;
}

function describeField({ key, value, origin }: v.IssuePathItem, expected: string): string {
  if (origin === 'key') return `the required field '${key}' is missing`;
  return `'${key}' has to be ${expected}, but is ${show(value)}`;
}

function nameOf(story: unknown, index: number): string {
  const id = isObject(story) ? story.id : undefined;
  return typeof id === 'string' && hasText(id) ? id : `number ${index + 1}`;
}

function duplicates(value: unknown): string[] {
  const stories: unknown[] = isObject(value) && Array.isArray(value.userStories) ? value.userStories : [];
  const ids = stories.flatMap((story) => (isObject(story) && typeof story.id === 'string' ? [story.id] : []));
  return ids
    .filter((id, index) => ids.indexOf(id) !== index)
    .map((id) => `Story ${id}: duplicate id, ids have to be unique`);
}

function show(value: unknown): string {
  return shorten(jsonOf(value), 80);
}

/** Deep nesting makes JSON.stringify throw. */
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

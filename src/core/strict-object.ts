import * as v from 'valibot';
import { isObject } from './json.ts';

/**
 * Accepts an object with known names only, and no list, which valibot takes for an object. The message of an issue says
 * what is expected; for an unknown name it lists the known ones, see `isUnknownName`.
 */
export function strictObject<const E extends v.ObjectEntries>(entries: E, expected = 'an object') {
  const schema = v.strictObject(entries, (issue) =>
    isUnknownName(issue) ? Object.keys(entries).join(', ') : expected,
  );
  return v.pipe(v.custom<v.InferInput<typeof schema>>(isObject, expected), schema);
}

export function isUnknownName({ expected }: Pick<v.BaseIssue<unknown>, 'expected'>): boolean {
  return expected === 'never';
}

/** Describes where a value is wrong and what is expected there; `root` names the whole value. */
export function describeIssue(issue: v.BaseIssue<unknown>, root: string): string {
  const keys = (issue.path ?? []).map(({ key }) => key);
  const name = isUnknownName(issue) ? keys.pop() : null;
  const at = keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
  if (name !== null) return `${at || root} has no "${name}" (there are: ${issue.message})`;
  if (issue.path?.at(-1)?.origin === 'key') return `${at} is missing`;
  return `${at || root} has to be ${issue.message}`;
}

import * as v from 'valibot';
import { isObject } from './json.ts';

/**
 * An object of known names only; valibot itself takes a list for an object. The message of an issue says what is
 * expected; for an unknown name it lists the known ones, see `isUnknownName`.
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

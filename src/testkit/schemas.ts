import * as v from 'valibot';
import { RalphError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import { describeIssue, strictObject } from '../core/strict-object.ts';

export const string = v.string('a string');
export const boolean = v.boolean('true or false');
export const yes = v.literal(true, 'true');
export const count = v.message(v.pipe(v.number(), v.minValue(0)), 'a number of 0 or more');
export const size = v.message(v.pipe(v.number(), v.gtValue(0)), 'a number above 0');
export const anyObject = v.custom<Record<string, unknown>>(isObject, 'an object');
export const file = strictObject({ path: string, content: string });
const tokenCount = v.exactOptional(count);
export const tokens = strictObject({
  inputTokens: tokenCount,
  outputTokens: tokenCount,
  cacheReadTokens: tokenCount,
  cacheWriteTokens: tokenCount,
});

export function listOf<S extends v.GenericSchema>(entry: S) {
  return v.pipe(v.array(entry, 'a list'), v.readonly());
}

export function fullListOf<S extends v.GenericSchema>(entry: S) {
  return v.pipe(listOf(entry), v.nonEmpty('a list with at least one entry'));
}

export function oneOf<const W extends readonly string[]>(...words: W) {
  return v.picklist(words, words.map((word) => `"${word}"`).join(' or '));
}

/** Accepts an object with exactly one of these names. */
export function oneKeyOf<E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    strictObject(v.partial(v.object(entries)).entries),
    v.check((value) => Object.keys(value).length === 1, 'an object with one key, such as "text"'),
  );
}

/** Throws one sentence that names the place and what is expected there. */
export function assertBy(
  schema: v.GenericSchema,
  value: unknown,
  { code, whose, remedy }: { readonly code: string; readonly whose: string; readonly remedy: string },
): void {
  const { issues } = v.safeParse(schema, value, { abortEarly: true });
  if (issues === undefined) return;
  throw new RalphError(code, `The ${whose} script is wrong: ${describeIssue(issues[0], 'it')}.`, { remedy });
}

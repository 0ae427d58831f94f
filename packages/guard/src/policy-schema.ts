import * as v from 'valibot';
import { categories } from './categories.ts';
import { isObject } from './json.ts';

const effects = ['delete', 'write', 'read', ...categories] as const;
const text = v.exactOptional(v.message(v.pipe(v.string(), v.nonEmpty()), 'a text'));

/** An object of known names only. The message of an issue says what is expected, or lists the known names. */
function strictObject<const E extends v.ObjectEntries>(entries: E, expected = 'an object') {
  const schema = v.strictObject(entries, (issue) =>
    isUnknownName(issue) ? Object.keys(entries).join(', ') : expected,
  );
  // valibot takes a list for an object.
  return v.pipe(v.custom<v.InferInput<typeof schema>>(isObject, expected), schema);
}

function isUnknownName({ expected }: Pick<v.BaseIssue<unknown>, 'expected'>): boolean {
  return expected === 'never';
}

const ruleSchema = strictObject(
  {
    effect: v.picklist(effects, effects.join(', ')),
    /** A pattern: from the project, from / or from ~; without it all paths. */
    path: text,
    reason: text,
  },
  'a rule',
);
const rules = v.optional(v.array(ruleSchema, 'a list of rules'), []);

/** `.ralph/guard.json`: rules of the project over those of the guard. What is denied wins over what is allowed. */
const policySchema = strictObject({ $schema: text, allow: rules, deny: rules });

export type GuardPolicy = Readonly<v.InferOutput<typeof policySchema>>;
export type GuardRule = Readonly<v.InferOutput<typeof ruleSchema>>;

/** Throws an error that names everything that is wrong. */
export function readPolicy(value: unknown): GuardPolicy {
  const { success, output, issues } = v.safeParse(policySchema, value);
  if (success) return output;
  throw new Error(issues.map(describeIssue).join('; '));
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => key);
  const name = isUnknownName(issue) ? keys.pop() : null;
  const at = keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
  if (name !== null) return `${at || 'the file'} has no "${name}" (there are: ${issue.message})`;
  if (issue.path?.at(-1)?.origin === 'key') return `${at} is missing`;
  return `${at || 'the file'} has to be ${issue.message}`;
}

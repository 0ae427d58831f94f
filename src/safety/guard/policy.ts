import * as v from 'valibot';
import { matchesGlob } from '../../core/glob.ts';
import { isUnknownName, strictObject } from '../../core/strict-object.ts';
import { categories } from './categories.ts';
import { hasGlob, mayMatch } from './marks.ts';

const effects = ['delete', 'write', 'read', ...categories] as const;
const text = v.exactOptional(v.message(v.pipe(v.string(), v.nonEmpty()), 'a text'));

const ruleSchema = strictObject(
  {
    effect: v.picklist(effects, effects.join(', ')),
    /** A pattern: from the project, from / or from ~; without it all paths. */
    path: text,
    /** Told to the agent when the rule denies. */
    reason: text,
  },
  'a rule',
);
const rules = v.optional(v.array(ruleSchema, 'a list of rules'), []);

/** `.ralph/guard.json`: rules of the project over those of the guard. What is denied wins over what is allowed. */
const policySchema = strictObject({ $schema: text, allow: rules, deny: rules });

export type GuardPolicy = Readonly<v.InferOutput<typeof policySchema>>;
export type GuardRule = Readonly<v.InferOutput<typeof ruleSchema>>;

/** Reads a policy that was parsed from JSON; says what is wrong instead of guessing. */
export function readPolicy(value: unknown): { policy: GuardPolicy } | { problems: string[] } {
  const { success, output, issues } = v.safeParse(policySchema, value);
  return success ? { policy: output } : { problems: issues.map(describeIssue) };
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

type Touch = { readonly kind: string; readonly path: string; readonly recursive: boolean };
type Roots = { readonly project: string; readonly home: string };

/** Whether a rule speaks of this effect. `path` is absolute; patterns may start at the project, at / or at ~. */
export function ruleMatches(
  rule: GuardRule,
  effect: string,
  path: string | undefined,
  roots: Roots,
): boolean {
  if (rule.effect !== effect) return false;
  if (rule.path === undefined) return true;
  if (path === undefined) return false;
  // A pattern of one name stands for it in every folder, but not where it starts at the root.
  if (/^(\/|~|\.\.\/)/.test(rule.path)) return matchesGlob(`/x${absolute(rule.path, roots)}`)(`x${path}`);
  const inside = path.startsWith(`${roots.project}/`) ? path.slice(roots.project.length + 1) : null;
  return inside !== null && matchesGlob(rule.path)(inside);
}

/** Whether all of a folder, or what a pattern of the shell stands for, may take along what the rule speaks of. */
export function ruleIsReached(rule: GuardRule, { kind, path, recursive }: Touch, roots: Roots): boolean {
  if (rule.effect !== kind || rule.path === undefined) return false;
  const names = absolute(rule.path, roots).replace(/\/+$/, '').split('/');
  const wild = names.findIndex((name) => /[*?]/.test(name));
  const folder = wild === -1 ? names : names.slice(0, wild);
  const parts = path.split('/');
  const shared = Math.min(folder.length, parts.length);
  const start = parts.slice(0, shared).join('/');
  return (recursive || hasGlob(start)) && mayMatch(start, folder.slice(0, shared).join('/'));
}

function absolute(pattern: string, { project, home }: Roots): string {
  if (/^~(?=\/|$)/.test(pattern)) return home + pattern.slice(1);
  if (pattern.startsWith('/')) return pattern;
  let base = project;
  let rest = pattern.replace(/^\.\//, '');
  while (rest.startsWith('../')) {
    base = base.slice(0, base.lastIndexOf('/'));
    rest = rest.slice(3);
  }
  return `${base}/${rest}`;
}

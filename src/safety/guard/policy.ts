import { matchesGlob } from '../../core/glob.ts';
import {
  list,
  type Output,
  object,
  oneOf,
  optional,
  type Problem,
  preset,
  required,
  simple,
} from '../../core/shape.ts';
import { categories } from './categories.ts';
import { hasGlob, mayMatch } from './marks.ts';

const kinds = ['delete', 'write', 'read'] as const;
const text = simple(
  'a text',
  { type: 'string' },
  (value): value is string => typeof value === 'string' && value !== '',
);

const ruleShape = object('a rule', {
  effect: required(oneOf(...kinds, ...categories), 'what happens: delete, write, read, or a category'),
  path: optional(text, 'a path pattern: from the project, from / or from ~; without it all paths'),
  reason: optional(text, 'told to the agent when the rule denies'),
});

/** `.ralph/guard.json`: rules of the project over those of the guard. */
export const policyShape = object('an object', {
  $schema: optional(text, 'for editors'),
  allow: preset(list('a list of rules', ruleShape), [], 'effects that are fine here'),
  deny: preset(
    list('a list of rules', ruleShape),
    [],
    'effects that are never fine here; they win over allow',
  ),
});

export type GuardPolicy = Output<typeof policyShape>;
export type GuardRule = Output<typeof ruleShape>;

/** Reads a policy that was parsed from JSON; says what is wrong instead of guessing. */
export function readPolicy(value: unknown): { policy: GuardPolicy } | { problems: string[] } {
  const problems: Problem[] = [];
  const policy = policyShape.read(value, [], problems);
  if (policy && problems.length === 0) return { policy };
  return { problems: problems.map(describe) };
}

function describe(problem: Problem): string {
  const at = problem.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
  if (problem.kind === 'value') return `${at || 'the file'} has to be ${problem.expected}`;
  return `${at || 'the file'} has no "${problem.name}" (there are: ${problem.known.join(', ')})`;
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

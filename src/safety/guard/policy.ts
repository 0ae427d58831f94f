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

/** Whether a rule speaks of this effect. `path` is absolute; patterns may start at the project, at / or at ~. */
export function ruleMatches(
  rule: GuardRule,
  effect: string,
  path: string | undefined,
  roots: { project: string; home: string },
): boolean {
  if (rule.effect !== effect) return false;
  if (rule.path === undefined) return true;
  if (path === undefined) return false;
  const pattern = rule.path.replace(/^~(?=\/|$)/, roots.home);
  if (pattern.startsWith('/')) return matchesGlob(pattern)(path.slice(1));
  const inside = path.startsWith(`${roots.project}/`) ? path.slice(roots.project.length + 1) : null;
  if (pattern.startsWith('../')) return matchesGlob(resolveUp(pattern, roots.project))(path.slice(1));
  return inside !== null && matchesGlob(pattern)(inside);
}

function resolveUp(pattern: string, project: string): string {
  let base = project;
  let rest = pattern;
  while (rest.startsWith('../')) {
    base = base.slice(0, base.lastIndexOf('/'));
    rest = rest.slice(3);
  }
  return `${base}/${rest}`;
}

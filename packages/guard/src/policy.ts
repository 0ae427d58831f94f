import { hasGlob, mayMatch } from './marks.ts';
import type { FileEffect } from './model.ts';
import type { GuardRule } from './policy-schema.ts';

type Roots = { readonly project: string; readonly home: string };

/** True if a rule covers this effect. `path` is absolute; patterns may start at the project, at / or at ~. */
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
  if (/^(\/|~|\.\.\/)/.test(rule.path)) return matchesGlob(`x${path}`, `/x${absolute(rule.path, roots)}`);
  const inside = path.startsWith(`${roots.project}/`) ? path.slice(roots.project.length + 1) : null;
  return inside !== null && matchesGlob(inside, rule.path);
}

/** True if a whole folder, or a glob, may include a path that the rule covers. */
export function ruleIsReached(rule: GuardRule, { kind, path, recursive }: FileEffect, roots: Roots): boolean {
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

/** Tests a path against a pattern. `*` and `?` stay within a folder, `**` does not; a folder stands for all below it. */
function matchesGlob(path: string, pattern: string): boolean {
  const normal = pattern
    .replace(/\\/g, '/')
    .replace(/^\.\//, '')
    .replace(/^\/+|\/+$/g, '');
  const body = normal.replace(/(?<![^/])\*\*(\/|$)|\*+|\?|[.+^${}()|[\]\\]/g, (token, slash?: string) => {
    if (slash !== undefined) return slash === '' ? '.*' : '(?:.*/)?';
    if (token.startsWith('*')) return '[^/]*';
    return token === '?' ? '[^/]' : `\\${token}`;
  });
  const anywhere = normal.includes('/') ? '' : '(?:.*/)?';
  return new RegExp(`^${anywhere}${body}(?:/.*)?$`, 'u').test(path.replace(/\\/g, '/'));
}

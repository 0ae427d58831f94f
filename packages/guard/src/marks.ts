/**
 * Text whose parts may not be known. What a shell would only learn at run time stands in it as one private-use
 * character that says where it comes from, so that text can be joined, split and compared like any other.
 */
export const UNKNOWN = '\uE000';
export const NETWORK = '\uE001';
export const DECODED = '\uE002';
/** `*` and `?` (or `[…]`) that a shell would expand to names of files. */
export const STAR = '\uE003';
export const ANY = '\uE004';
/** All of the environment, or a private file. */
export const PRIVATE = '\uE005';
/** Stands for the number of the process that started the shell: the agent, mostly. */
export const parentProcess = 'parent-process';
export const ENDLESS = '\uE008';
/** Content of a file as git has stored it: unknown, but tied to its path. */
export function committed(path: string): string {
  return `${UNKNOWN}${path}${UNKNOWN}`;
}

const SECRET = '\uE006';
const SECRET_END = '\uE007';
const marks = /[\uE000-\uE008]/g;
const mark = /[\uE000-\uE008]/;
const secret = /\uE006([^\uE007]*)\uE007/g;

export function unmarked(text: string): string {
  return text.replace(marks, '?');
}

export function secretOf(name: string): string {
  return SECRET + name + SECRET_END;
}

export function secretsIn(text: string): string[] {
  return text.includes(SECRET) ? [...text.matchAll(secret)].map(([, name = '']) => name) : [];
}

export function isPlain(text: string): boolean {
  return !mark.test(text);
}

export function hasGlob(text: string): boolean {
  return text.includes(STAR) || text.includes(ANY);
}

/** True if a part of the text is known only at run time (a glob is known well enough). */
export function isOpaque(text: string): boolean {
  return /[\uE000-\uE002\uE005-\uE008]/.test(text);
}

export function show(text: string): string {
  if (isPlain(text)) return text;
  return text
    .replace(secret, '$$$1')
    .replaceAll(STAR, '*')
    .replaceAll(ANY, '?')
    .replace(/[\uE000-\uE002\uE005-\uE008]/g, '…');
}

/** The same characters as a shell pattern, where quotes are gone: `*` in a variable is a glob when it is not quoted. */
export function asGlob(text: string): string {
  if (!/[*?[]/.test(text)) return text;
  return text
    .replaceAll('*', STAR)
    .replaceAll('?', ANY)
    .replace(/\[[^\]/]+\]/g, ANY);
}

/** A glob that found no file, or that is taken as text, is what was written. */
export function asText(text: string): string {
  return hasGlob(text) ? text.replaceAll(STAR, '*').replaceAll(ANY, '?') : text;
}

/** True if a pattern of a name or a whole path may match `name`. Unknown text matches nothing. */
export function mayMatch(pattern: string, name: string): boolean {
  const parts = pattern.split('/');
  const names = name.split('/');
  return parts.length === names.length && parts.every((part, i) => segmentMatches(part, names[i] ?? ''));
}

export function segmentMatches(part: string, name: string): boolean {
  if (!hasGlob(part)) return part === name;
  if (name.startsWith('.') && !part.startsWith('.')) return false;
  return wildcardMatches(part, name);
}

/** Two cursors and one place to come back to, so that many stars cost no more than few. */
function wildcardMatches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let i = 0;
  while (i < text.length) {
    if (pattern[at] === STAR) {
      star = at++;
      resume = i;
    } else if (at < pattern.length && (pattern[at] === ANY || pattern[at] === text[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else return false;
  }
  while (pattern[at] === STAR) at++;
  return at === pattern.length;
}

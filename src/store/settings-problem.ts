import type * as z from 'zod/mini';
import { RalphError } from '../core/error.ts';
import { nearest } from '../core/nearest.ts';
import { namesAt, settingKeys } from './settings-schema.ts';

type Issue = z.core.$ZodIssue;

/** The error for wrong settings: exit code 2 and one sentence. */
export function settingsError(message: string, cause?: unknown): RalphError {
  const remedy = 'ralph config --explain shows every setting, its value and where it came from';
  return new RalphError('settings', message, { remedy, exitCode: 2, cause });
}

/** One sentence about the first issue: where, which setting, what was found, what is expected. */
export function describeIssue(where: string, value: unknown, issues: readonly Issue[]): string {
  const [issue] = issues;
  if (issue === undefined) return `${where} is not valid`;
  if (issue.code === 'unrecognized_keys') return describeUnknown(where, issue.path, issue.keys[0] ?? '');
  const found = foundWords(valueAt(value, issue.path));
  const subject = issue.path.length === 0 ? where : `${where}: ${pathName(issue.path)}`;
  return `${subject} is ${found}, expected ${issue.message}`;
}

/** A value in words short enough for an error message. */
export function foundWords(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function describeUnknown(where: string, path: readonly PropertyKey[], key: string): string {
  const beside = nearest(key, namesAt(path));
  const meant = beside ? pathName([...path, beside]) : settingKeys.find((known) => known.endsWith(`.${key}`));
  const advice = meant ? `; did you mean "${meant}"?` : '';
  return `${where}: there is no setting ${foundWords(pathName([...path, key]))}${advice}`;
}

function pathName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, part) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, part)) return undefined;
    return Reflect.get(inner, part);
  }, value);
}

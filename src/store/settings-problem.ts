import { RalphError } from '../core/error.ts';
import { nearest } from '../core/nearest.ts';
import type { Path, Problem } from '../core/shape.ts';
import { settingTable } from './settings-schema.ts';

/** The error for wrong settings: exit code 2 and one sentence. */
export function settingsError(message: string, cause?: unknown): RalphError {
  return new RalphError('settings', message, { remedy: 'ralph help settings', exitCode: 2, cause });
}

/** One sentence: where, which setting, what was found, what is expected. */
export function describeProblem(where: string, value: unknown, problem: Problem): string {
  const { path } = problem;
  if (problem.kind === 'value') {
    const subject = path.length === 0 ? where : `${where}: ${pathName(path)}`;
    return `${subject} is ${inWords(valueAt(value, path))}, expected ${problem.expected}`;
  }
  const beside = nearest(problem.name, problem.known);
  const elsewhere = [...settingTable.keys()].find((key) => key.endsWith(`.${problem.name}`));
  const meant = beside === null ? elsewhere : pathName([...path, beside]);
  const advice = meant ? `; did you mean "${meant}"?` : '';
  const name = pathName([...path, problem.name]);
  return `${where}: there is no setting ${name.endsWith('"') ? name : `"${name}"`}${advice}`;
}

function inWords(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function pathName(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    // A name that is the user's own may hold anything, and this goes to a terminal.
    const word = /^[\w$=-]+$/.test(part) ? part : inWords(part);
    return name === '' ? word : `${name}.${word}`;
  }, '');
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, part)) return undefined;
    return Reflect.get(inner, part);
  }, value);
}

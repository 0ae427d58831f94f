import type { BaseIssue } from 'valibot';
import { isRalphError, RalphError } from '../core/error.ts';
import { nearest } from '../core/nearest.ts';
import { otherExits } from '../core/outcome.ts';
import { isUnknownName } from '../core/strict-object.ts';
import { settingTable } from './settings-schema.ts';

/** Returns the error for wrong settings: one sentence, and exit code 2 unless the machine failed to read them. */
export function settingsError(message: string, cause?: unknown): RalphError {
  const { exitCode } = isRalphError(cause) ? cause : otherExits.usage;
  return new RalphError('settings', message, { remedy: 'ralph help settings', exitCode, cause });
}

/** Returns one sentence: where, which setting, its value, and what is expected. */
export function describeIssue(where: string, issue: BaseIssue<unknown>): string {
  const { path = [], input, message } = issue;
  const keys = path.map(({ key }) => key);
  if (isUnknownName(issue)) return `${where}: ${describeName(keys, message.split(', '))}`;
  const place = path.at(-1);
  const subject = place === undefined ? where : `${where}: ${pathName(keys)}`;
  // The input of a failAction is in capitals already; its place has the user's text.
  const content = place?.origin === 'value' ? place.value : input;
  return `${subject} is ${inWords(content)}, expected ${message}`;
}

function describeName(keys: readonly unknown[], knownNames: readonly string[]): string {
  const beside = nearest(String(keys.at(-1)), knownNames);
  const elsewhere = [...settingTable.keys()].find((key) => key.endsWith(`.${keys.at(-1)}`));
  const advice = beside === null ? elsewhere : pathName([...keys.slice(0, -1), beside]);
  const name = pathName(keys);
  const quoted = name.endsWith('"') ? name : `"${name}"`;
  return `there is no setting ${quoted}${advice ? `; did you mean "${advice}"?` : ''}`;
}

function inWords(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function pathName(keys: readonly unknown[]): string {
  return keys.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    // A name of the user may hold anything, and this goes to a terminal.
    const word = /^[\w$=-]+$/.test(String(key)) ? key : inWords(key);
    return name === '' ? `${word}` : `${name}.${word}`;
  }, '');
}

import { readFileSync } from 'node:fs';
import { messageOf } from '../core/error.ts';
import { findJsonError } from '../core/json-error.ts';
import { describeIssue, settingsError } from './settings-problem.ts';
import { type SettingKey, settingsSchema } from './settings-schema.ts';

export const projectFile = '.ralph/settings.json';
export const localFile = '.ralph/settings.local.json';

/** Where a value came from: a file, an environment variable or a flag. */
export type SettingSource =
  | 'default'
  | 'user'
  | typeof projectFile
  | typeof localFile
  | `RALPH_${string}`
  | `-${string}`;

/** Settings from one place. */
export type Layer = { readonly source: SettingSource; readonly value: Record<string, unknown> };

/** Reads and checks a settings file; null when there is none. `name` is what messages call it. */
export function readSettingsFile(path: string, name: string): Record<string, unknown> | null {
  const text = readFile(path, name);
  if (text === null) return null;
  if (text.trim() === '') return {};
  return checkSettings(parseJson(text, name), name);
}

/** The value itself when it is valid as a whole settings file, otherwise an error that names the place. */
export function checkSettings(value: unknown, where: string): Record<string, unknown> {
  const checked = settingsSchema.safeParse(value, { jitless: true });
  if (!checked.success) throw settingsError(describeIssue(where, value, checked.error.issues), checked.error);
  return isObject(value) ? value : {};
}

/** One setting as a person typed it, or an error that names the place. */
export function readSetting(key: SettingKey, raw: unknown, where: string): Record<string, unknown> {
  const readings = typeof raw === 'string' ? readingsOf(raw) : [raw];
  const values = readings.map((reading) => nest(key, reading));
  const fits = values.find((value) => settingsSchema.safeParse(value, { jitless: true }).success);
  if (fits !== undefined) return fits;
  const json = typeof raw === 'string' ? tryJson(raw).find((value) => typeof value === 'object') : undefined;
  return checkSettings(nest(key, json ?? raw), where);
}

/** `over` wins; objects are merged key by key, everything else, lists included, is replaced. */
export function mergeSettings(
  base: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  // fromEntries defines its keys, so that "__proto__" in a file stays a plain key.
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, isObject(below) && isObject(value) ? mergeSettings(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** The value of a setting in a layer, undefined when the layer does not set it. */
export function settingIn(value: Record<string, unknown>, key: SettingKey): unknown {
  const [name = '', inner] = key.split('.');
  const outer = Object.hasOwn(value, name) ? value[name] : undefined;
  if (inner === undefined) return outer;
  return isObject(outer) && Object.hasOwn(outer, inner) ? outer[inner] : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readFile(path: string, name: string): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw settingsError(`${name} cannot be read: ${messageOf(error)}`, error);
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = findJsonError(text);
    if (place === null) throw settingsError(`${name} is not valid JSON: ${messageOf(error)}`, error);
    const { line, column, expected } = place;
    throw settingsError(`${name}:${line}:${column} is not valid JSON, expected ${expected} here`, error);
  }
}

function nest(key: SettingKey, value: unknown): Record<string, unknown> {
  const [name = '', inner] = key.split('.');
  return { [name]: inner === undefined ? value : { [inner]: value } };
}

const switches = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

/** What text from a shell can stand for; the schema takes the first that fits. */
function readingsOf(raw: string): unknown[] {
  const onOrOff = switches.get(raw.trim().toLowerCase());
  const items = raw.split(',').map((item) => item.trim());
  return [
    raw,
    ...tryJson(raw),
    ...(onOrOff === undefined ? [] : [onOrOff]),
    items.filter((item) => item !== ''),
  ];
}

function tryJson(raw: string): unknown[] {
  try {
    return [JSON.parse(raw)];
  } catch {
    return [];
  }
}

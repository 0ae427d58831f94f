import * as v from 'valibot';
import { messageOf } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import { findJsonError } from '../core/json-error.ts';
import { attempt } from '../os/attempt.ts';
import { readText } from '../os/files/files.ts';
import { describeIssue, settingsError } from './settings-problem.ts';
import { type ResolvedSettings, type SettingKey, settingsSchema } from './settings-schema.ts';

export const projectFile = '.ralph/settings.json';
export const localFile = '.ralph/settings.local.json';

/** Source of a value: a file, an environment variable or a flag. */
export type SettingSource =
  | 'default'
  | 'user'
  | typeof projectFile
  | typeof localFile
  | `RALPH_${string}`
  | `-${string}`;

/** Settings as the user wrote them, already checked. */
export type Settings = Readonly<Record<string, unknown>>;

export type Layer = { readonly source: SettingSource; readonly value: Settings };

/** Reads and checks a settings file; null if there is none. Messages call it `name`. */
export function readSettingsFile(path: string, name: string): Settings | null {
  const text = readSettingsText(path, name);
  return text === null ? null : parseSettings(text, name);
}

/** Checks the text of a settings file. Messages call it `name`. */
export function parseSettings(text: string, name: string): Settings {
  // A file that was emptied, by a full disk or an agent, must not remove the guardrails.
  if (text.trim() === '') throw settingsError(`${name} is empty, expected at least {}`);
  const value = parseJson(text, name);
  resolveSettings(value, name);
  return isObject(value) ? value : {};
}

/** Checks and converts a whole set of settings, or fails with a sentence that names the place. */
export function resolveSettings(value: unknown, where: string): ResolvedSettings {
  const { success, output, issues } = v.safeParse(settingsSchema, value);
  if (!success) throw settingsError(describeIssue(where, issues[0]));
  return output;
}

/** Reads one setting as a person typed it, or fails with the name of its place. */
export function readSetting(key: SettingKey, raw: unknown, where: string): Settings {
  const readings = typeof raw === 'string' ? readingsOf(raw) : [raw];
  const fitting = readings
    .map((reading) => nestSetting(key, reading))
    .find((value) => v.is(settingsSchema, value));
  if (fitting !== undefined) return fitting;
  const json = typeof raw === 'string' ? tryJson(raw).find((value) => typeof value === 'object') : undefined;
  const settings = nestSetting(key, json ?? raw);
  resolveSettings(settings, where);
  return settings;
}

/** Merges objects key by key; anything else, lists included, is replaced by that of `over`. */
export function mergeSettings(base: Settings, over: Settings): Settings {
  // fromEntries defines its keys, so that "__proto__" in a file stays a plain key.
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, isObject(below) && isObject(value) ? mergeSettings(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Returns the value of a setting in a layer; undefined if the layer does not set it. */
export function settingIn(value: Settings, key: SettingKey): unknown {
  const [name = '', inner] = key.split('.');
  const outer = Object.hasOwn(value, name) ? value[name] : undefined;
  if (inner === undefined) return outer;
  return isObject(outer) && Object.hasOwn(outer, inner) ? outer[inner] : undefined;
}

/** Returns settings with only this one. */
export function nestSetting(key: SettingKey, value: unknown): Settings {
  const [name = '', inner] = key.split('.');
  return { [name]: inner === undefined ? value : { [inner]: value } };
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

export function readSettingsText(path: string, name: string): string | null {
  try {
    return readText(path);
  } catch (error) {
    throw settingsError(`${name} cannot be read: ${messageOf(error)}`, error);
  }
}

const switches = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

/** Returns the values that text from a shell can mean; the schema takes the first that fits. */
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
  return attempt(() => [JSON.parse(raw)], []);
}

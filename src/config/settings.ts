import { join } from 'node:path';
import { isObject } from '../core/json.ts';
import { nearest } from '../core/nearest.ts';
import { configFolder } from './paths.ts';
import {
  type Layer,
  localFile,
  mergeSettings,
  projectFile,
  readSetting,
  readSettingsFile,
  resolveSettings,
  type SettingSource,
  type Settings,
  settingIn,
} from './settings-layers.ts';
import { type ResolvedSettings, type SettingKey, settingTable } from './settings-schema.ts';
import { tighten } from './trust/tighten.ts';
import type { ProjectTrust } from './trust/trust.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A setting given on the command line; `flag` is what the user typed, with its dashes. An undefined value counts as not
 * given; a duration is text (`90s`) or a number of seconds.
 */
export type CliSetting = { readonly key: SettingKey; readonly value: unknown; readonly flag: `-${string}` };

/** Where each setting came from; a variable of `agent.env` has its own entry. */
type SettingSources = Readonly<
  Partial<Record<SettingKey, SettingSource>> & { [name: `agent.env.${string}`]: SettingSource }
>;

export type LoadedSettings = {
  readonly settings: ResolvedSettings;
  /** The user's settings of all places, without defaults. */
  readonly written: Settings;
  readonly sources: SettingSources;
  /** The files that were read, lowest first. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
};

const prefix = 'RALPH_';

/** Variables with our prefix that are no settings. */
const otherVariables = [
  'RALPH_RUN_ID',
  'RALPH_ITERATION',
  'RALPH_PRD_DIR',
  'RALPH_CHARS_PER_TOKEN',
  'RALPH_FAKE_SCRIPT',
  'RALPH_EMOJI',
  'RALPH_HOME',
  'RALPH_DEBUG',
  'RALPH_TRUST',
];

const settingKeys = [...settingTable.keys()];

const settingVariables = settingKeys
  .filter((key) => key !== '$schema')
  .map((key) => ({ key, name: variableName(key) }));

type SettingsPlace = {
  readonly cwd: string;
  readonly env: Environment;
  readonly trust: Pick<ProjectTrust, 'strangers' | 'isTrusted'>;
  readonly userConfigDir?: string;
};

/**
 * The settings of a project: defaults, then the user's file, the project's file, its local overlay, the environment
 * and the command line, each over the one before. A project's file that a stranger brought counts only if the user trusts
 * it, and may only make things stricter. Throws a RalphError for anything that is not valid.
 */
export function loadSettings({
  cli = [],
  ...place
}: SettingsPlace & { readonly cli?: readonly CliSetting[] }): LoadedSettings {
  return readSettings(place)(cli);
}

/** Reads the files once. Returns a function that puts the settings of a command line over them. */
export function readSettings({
  cwd,
  env,
  trust,
  userConfigDir = configFolder(env),
}: SettingsPlace): (cli: readonly CliSetting[]) => LoadedSettings {
  const userFile = join(userConfigDir, 'settings.json');
  const fromFiles = [
    { source: 'user', name: userFile, value: readSettingsFile(userFile, userFile) },
    { source: projectFile, name: projectFile, value: readSettingsFile(join(cwd, projectFile), projectFile) },
    { source: localFile, name: localFile, value: readSettingsFile(join(cwd, localFile), localFile) },
  ] as const;
  const layers: Layer[] = [];
  const files: string[] = [];
  const warnings = nearMisses(env);
  let own: Settings = {};
  for (const { source, name, value } of fromFiles) {
    if (value === null) continue;
    const isOwn = !isStrangers(trust, source);
    if (!isOwn && !trust.isTrusted) {
      warnings.push(`${name} came with this folder and is not trusted, so it is left out: ralph trust`);
      continue;
    }
    const { value: kept, setAside } = isOwn ? { value, setAside: [] } : tighten(value, own);
    if (isOwn) own = mergeSettings(own, value);
    warnings.push(
      ...setAside.map((setting) => `${name} came with this folder, so its ${setting} is set aside`),
    );
    layers.push({ source, value: kept });
    files.push(name);
  }
  layers.push(...environmentLayers(env));
  return (cli) => {
    const flags = cli
      .filter(({ value }) => value !== undefined)
      .map(({ key, value, flag }) => ({ source: flag, value: readSetting(key, value, flag) }));
    return { ...resolveLayers([...layers, ...flags]), files, warnings };
  };
}

/** Reads the project's own two files, without defaults; null if there is no settings file. */
export function readProjectSettings(cwd: string): { value: Settings; local: boolean } | null {
  const base = readSettingsFile(join(cwd, projectFile), projectFile);
  if (base === null) return null;
  const local = readSettingsFile(join(cwd, localFile), localFile);
  return local === null ? { value: base, local: false } : { value: mergeSettings(base, local), local: true };
}

export function isOfProject({ sources }: Pick<LoadedSettings, 'sources'>, key: SettingKey): boolean {
  return sources[key] === projectFile || sources[key] === localFile;
}

/** True if a value comes from a file that a stranger brought. */
export function isStrangers(
  { strangers }: Pick<ProjectTrust, 'strangers'>,
  source: SettingSource | undefined,
): boolean {
  return strangers.some(({ file }) => file === source);
}

/** Returns `RALPH_` and the name of the setting in capitals. */
export function variableName(key: SettingKey): `RALPH_${string}` {
  const words = key.replaceAll('.', '_').replace(/([a-z])([A-Z])/g, '$1_$2');
  return `${prefix}${words.toUpperCase()}`;
}

function resolveLayers(layers: readonly Layer[]): Pick<LoadedSettings, 'settings' | 'written' | 'sources'> {
  const ranks = new Map<string, number>();
  for (const [rank, { value }] of layers.entries()) {
    for (const key of settingKeys) {
      if (settingIn(value, key) !== undefined) ranks.set(key, rank);
    }
    const variables = settingIn(value, 'agent.env');
    if (!isObject(variables)) continue;
    for (const name of Object.keys(variables)) ranks.set(`agent.env.${name}`, rank);
  }
  let merged = layers.reduce<Settings>((below, { value }) => mergeSettings(below, value), {});
  // A response in a higher layer replaces a promise: `-c DONE` over a promise in the file.
  if ((ranks.get('completionResponse') ?? -1) > (ranks.get('completionPromise') ?? -1)) {
    ranks.delete('completionPromise');
    const { completionPromise: _, ...rest } = merged;
    merged = rest;
  }
  const sourceOf = (key: string) => layers[ranks.get(key) ?? -1]?.source ?? 'default';
  const keys = new Set([...settingKeys, ...ranks.keys()]);
  return {
    settings: resolveSettings(merged, 'settings'),
    written: merged,
    sources: Object.fromEntries([...keys].map((key) => [key, sourceOf(key)])),
  };
}

function environmentLayers(env: Environment): Layer[] {
  const layers: Layer[] = [];
  for (const { key, name } of settingVariables) {
    const raw = env[name];
    if (raw) layers.push({ source: name, value: readSetting(key, raw, name) });
  }
  return layers;
}

function nearMisses(env: Environment): string[] {
  const names = settingVariables.map(({ name }) => name.slice(prefix.length));
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    if (!name.startsWith(prefix) || otherVariables.includes(name)) continue;
    const match = nearest(name.slice(prefix.length), names);
    if (match === null || `${prefix}${match}` === name) continue;
    warnings.push(`${name} is no setting; did you mean ${prefix}${match}?`);
  }
  return warnings;
}

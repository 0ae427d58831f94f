import { type LoadedSettings, loadSettings } from '../../config/settings.ts';
import { mergeSettings, nestSetting, type Settings, settingIn } from '../../config/settings-layers.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import { permissionsOf, type SettingKey, settingTable } from '../../config/settings-schema.ts';
import { examineTrust } from '../../config/trust/trust.ts';
import { isObject } from '../../core/json.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { wrapPage } from '../kernel/help.ts';
import { styleOf } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { configOptions } from './options.ts';

export async function main(context: Context, { values }: Input<typeof configOptions>): Promise<void> {
  const { cwd, env } = context;
  const loaded = loadSettings({ cwd, env, trust: await examineTrust(cwd, env) });
  const redactor = settingsRedactor(loaded.settings, context.env);
  for (const warning of loaded.warnings) context.stderr.write(`warning: ${warning}\n`);
  const text = redactor.text(values.explain && !values.json ? explain(loaded) : toJson(loaded, values.json));
  const page = wrapPage(text, styleOf(context).columns);
  context.stdout.write(context.stdout.isTTY ? cleanTerminal(page) : page);
}

/** The settings in force, in the form of a settings file; for programs, with the source of each. */
function toJson({ written, sources, files, warnings }: LoadedSettings, forPrograms = false): string {
  const settings = inForce(written);
  const content = forPrograms ? { v: 1, settings, sources, files, warnings } : settings;
  return `${JSON.stringify(content, null, 2)}\n`;
}

function explain({ settings: resolved, written, sources }: LoadedSettings): string {
  // What is not set does not mean that nothing holds.
  const unset: Settings = {
    sandbox: 'none',
    agent: { permissions: permissionsOf(resolved) },
  };
  const settings = mergeSettings(unset, inForce(written));
  const rows = [...settingTable].flatMap(([key, { description }]): [string, string, string, string][] => {
    const value = settingIn(settings, key);
    if (key === '$schema') return [];
    if (value === undefined) return [[key, '-', 'not set', description]];
    if (key !== 'agent.env' || !isObject(value) || Object.keys(value).length === 0) {
      return [[key, sources[key] ?? 'default', JSON.stringify(value), description]];
    }
    return Object.entries(value).map(([name, text]) => {
      const variable = `agent.env.${name}` as const;
      return [variable, sources[variable] ?? 'default', JSON.stringify(text), description];
    });
  });
  const keyWidth = Math.max(...rows.map(([key]) => key.length));
  const sourceWidth = Math.max(...rows.map(([, source]) => source.length));
  const lines = rows.map(([key, source, value, description]) => {
    return `${key.padEnd(keyWidth)}  ${source.padEnd(sourceWidth)}  ${value.padEnd(10)}  # ${description}\n`;
  });
  return lines.join('');
}

function inForce(written: Settings): Settings {
  const hasDefault = (key: SettingKey) => !key.startsWith('scm.') || written.scm !== undefined;
  let settings: Settings = {};
  for (const [key, { fallback }] of settingTable) {
    const value = settingIn(written, key) ?? (hasDefault(key) ? fallback : undefined);
    if (value !== undefined) settings = mergeSettings(settings, nestSetting(key, value));
  }
  return settings;
}

import type { CliSetting } from '../../config/settings.ts';
import { type ResolvedSettings, type SettingKey, settingTable } from '../../config/settings-schema.ts';
import { splitWords } from '../../core/words.ts';
import type { Input, Option } from '../kernel/spec.ts';
import { runOptions } from './options.ts';

/** Settings whose option has another name than theirs. */
const otherNames: Readonly<Record<string, SettingKey>> = {
  agent: 'agent.command',
  permissions: 'agent.permissions',
  'allow-host': 'allowHosts',
};

/** The settings that the options of `ralph run` set: `--max-cost` is `maxCost`. */
export function settingsOf(
  values: Input<typeof runOptions>['values'],
  { allowHosts }: ResolvedSettings,
): CliSetting[] {
  const options: Readonly<Record<string, Option>> = runOptions;
  return Object.entries(values).flatMap(([name, typed]): CliSetting[] => {
    if (name === 'acp') return acpSettings(String(typed));
    const key = otherNames[name] ?? [...settingTable.keys()].find((one) => one === camelCase(name));
    if (key === undefined) return [];
    const setting = (value: unknown) => [{ key, value, flag: `--${name}` } as const];
    // Hosts on the command line come besides those in the files.
    if (key === 'allowHosts' && Array.isArray(typed)) return setting([...allowHosts, ...typed]);
    if (key === 'sandbox' && typed === '') return setting('auto');
    // Settings are written as people write them; the parser has made milliseconds of durations.
    return setting(options[name]?.type === 'duration' ? `${typed}ms` : typed);
  });
}

/** `--acp` alone is the protocol; with a command it also chooses the agent and its words. */
function acpSettings(command: string): CliSetting[] {
  const flag = '--acp';
  const [program, ...args] = splitWords(command) ?? [command];
  const protocol = { key: 'agent.protocol', value: 'acp', flag } as const;
  if (program === undefined) return [protocol];
  return [
    protocol,
    { key: 'agent.command', value: program, flag },
    ...(args.length === 0 ? [] : [{ key: 'agent.args', value: args, flag } as const]),
  ];
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

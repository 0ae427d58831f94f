import { variableName } from '../../config/settings.ts';
import { settingTable } from '../../config/settings-schema.ts';

/** `ralph help settings`, from the table of settings. */
export function settingsTopic(): string {
  const settings = [...settingTable].filter(([key]) => key !== '$schema');
  const lines = settings.map(([key, { description, fallback }]) => {
    const preset = fallback === undefined ? '' : ` Default: ${JSON.stringify(fallback)}`;
    return `  ${key}, ${variableName(key)}\n      ${description}${preset}`;
  });
  return [
    'Settings, and the environment variable of each',
    '',
    'Later ones win: defaults, $XDG_CONFIG_HOME/ralph/settings.json, .ralph/settings.json,',
    '.ralph/settings.local.json, the environment, the command line. Objects are merged, lists are replaced.',
    'A duration is "90s", "15m", "1h30m" or a number of seconds. ralph config --explain shows what is in force.',
    '',
    ...lines,
    '',
  ].join('\n');
}

import { createRedactor } from '../safety/redact.ts';
import { secretSettings } from '../store/secret-settings.ts';
import { resolveSettings, type Settings } from '../store/settings-layers.ts';

/** Takes the secrets of the environment, and the secret settings, out of settings that are shown. */
export function settingsRedactor(
  written: Settings,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return createRedactor({ ...env, ...secretSettings(resolveSettings(written, 'settings')) }).text;
}

import { secretSettings } from '../../config/secret-settings.ts';
import { resolveSettings, type Settings } from '../../config/settings-layers.ts';
import { createRedactor } from '../../os/redact/redact.ts';

/** Returns a function that removes secrets of the environment and of the settings from a text. */
export function settingsRedactor(
  written: Settings,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return createRedactor({ ...env, ...secretSettings(resolveSettings(written, 'settings')) }).text;
}

import { secretSettings } from '../../config/secret-settings.ts';
import { resolveSettings, type Settings } from '../../config/settings-layers.ts';
import { createRedactor } from '../../os/redact/redact.ts';

/** Takes the secrets of the environment, and the secret settings, out of settings that are shown. */
export function settingsRedactor(
  written: Settings,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return createRedactor({ ...env, ...secretSettings(resolveSettings(written, 'settings')) }).text;
}

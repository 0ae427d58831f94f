import { createRedactor } from '../safety/redact.ts';
import { resolveSettings, type Settings } from '../store/settings-layers.ts';

/** Takes the secrets of the environment, and of the agent's own environment, out of settings that are shown. */
export function settingsRedactor(
  written: Settings,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return createRedactor({ ...env, ...resolveSettings(written, 'settings').agent.env }).text;
}

import type { GuardStarter } from '../adapter.ts';
import { parseRecord } from '../json.ts';

/** Adds a plugin to the configuration of this call alone, beside the user's own. */
export const guard: GuardStarter = ({ opencodePlugin }, { env, flags }) => {
  // These switch off all plugins, ours too.
  if (opencodePlugin === null || flags.includes('--pure') || env.OPENCODE_PURE) return null;
  const own = env.OPENCODE_CONFIG_CONTENT ? parseRecord(env.OPENCODE_CONFIG_CONTENT) : {};
  // JSON with comments stays as it is.
  if (own === undefined) return null;
  const plugins = Array.isArray(own.plugin) ? own.plugin : [];
  const config = { ...own, plugin: [...plugins, opencodePlugin] };
  return { args: [], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
};

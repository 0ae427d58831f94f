import { isObject } from '../../core/json.ts';
import type { AgentGuard, GuardPrograms } from '../adapter.ts';

/** Adds a plugin to the configuration of this call alone, beside the user's own. */
export function guard(
  { opencodePlugin }: GuardPrograms,
  {
    env,
    flags,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly flags: readonly string[] },
): AgentGuard | null {
  // These switch off all plugins, ours too.
  if (opencodePlugin === null || flags.includes('--pure') || env.OPENCODE_PURE) return null;
  const own = parse(env.OPENCODE_CONFIG_CONTENT);
  if (own === null) return null;
  const plugins = Array.isArray(own.plugin) ? own.plugin : [];
  const config = { ...own, plugin: [...plugins, opencodePlugin] };
  return { args: [], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
}

/** Returns null for text that is not JSON, such as JSON with comments: it stays as it is. */
function parse(text: string | undefined): Readonly<Record<string, unknown>> | null {
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

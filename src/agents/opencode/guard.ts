import { isObject } from '../../core/json.ts';
import type { AgentGuard, GuardPrograms } from '../adapter.ts';

/** A plugin in configuration of this call alone, beside what the user has there. */
export function guard(
  { opencodePlugin }: GuardPrograms,
  {
    env,
    flags,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly flags: readonly string[] },
): AgentGuard | null {
  // Without plugins, there is none of ours either.
  if (flags.includes('--pure') || env.OPENCODE_PURE) return null;
  const own = parse(env.OPENCODE_CONFIG_CONTENT);
  if (own === null) return null;
  const plugins = Array.isArray(own.plugin) ? own.plugin : [];
  const config = { ...own, plugin: [...plugins, opencodePlugin] };
  return { args: [], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
}

/** Null for what is not JSON (OpenCode takes comments): then it is left alone. */
function parse(text: string | undefined): Readonly<Record<string, unknown>> | null {
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

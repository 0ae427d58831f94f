import type { AgentGuard, GuardPrograms } from '../adapter.ts';
import { atLeast } from '../version.ts';

/** Where Codex keeps what it was told with `-c`. */
const place = '/<session-flags>/config.toml:pre_tool_use:0:0';
const timeout = 60;

/**
 * A hook for this call alone. Codex skips hooks that nobody trusted, and trusts by the digest of the hook as sorted JSON;
 * to switch the question off would let in the hooks of the repository as well.
 */
export function guard(
  { hook, sha256 }: GuardPrograms,
  { version }: { readonly version: string | null },
): AgentGuard | null {
  if (version !== null && !atLeast(version, '0.145.0')) return null;
  const handler = { async: false, command: hook, timeout, type: 'command' };
  const digest = sha256(JSON.stringify({ event_name: 'pre_tool_use', hooks: [handler] }));
  const hooks = `hooks.PreToolUse=[{hooks=[{type="command",command=${JSON.stringify(hook)},timeout=${timeout}}]}]`;
  const state = `hooks.state={${JSON.stringify(place)}={trusted_hash="sha256:${digest}"}}`;
  return { args: ['-c', 'features.hooks=true', '-c', hooks, '-c', state], env: {} };
}

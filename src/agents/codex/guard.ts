import type { GuardStarter } from '../adapter.ts';
import { atLeast } from '../version.ts';

/** Name that Codex gives to settings from `-c`. */
const place = '/<session-flags>/config.toml:pre_tool_use:0:0';
const timeout = 60;

/**
 * Adds a hook to this call alone, and trusts it by the digest of the hook as sorted JSON: Codex skips hooks without
 * trust. Switching that check off would also let in the hooks of the repository.
 */
export const guard: GuardStarter = ({ hook, sha256 }, { version }) => {
  const command = hook('guard');
  if (command === null || (version !== null && !atLeast(version, '0.145.0'))) return null;
  const handler = { async: false, command, timeout, type: 'command' };
  const digest = sha256(JSON.stringify({ event_name: 'pre_tool_use', hooks: [handler] }));
  const hooks = `hooks.PreToolUse=[{hooks=[{type="command",command=${JSON.stringify(command)},timeout=${timeout}}]}]`;
  const state = `hooks.state={${JSON.stringify(place)}={trusted_hash="sha256:${digest}"}}`;
  return { args: ['-c', 'features.hooks=true', '-c', hooks, '-c', state], env: {} };
};

import type { AgentGuard, GuardPrograms } from '../adapter.ts';

const tools = '^(Bash|PowerShell|Monitor|Read|Grep|Write|Edit|MultiEdit|NotebookRead|NotebookEdit|mcp__.+)$';

/**
 * A hook in settings of this call alone. Of two `--settings` only the last counts, so that the user's gets the plugin beside
 * it. A repository that switches all hooks off must not switch off this one; two flags do, and nothing helps.
 */
export function guard(
  { hook, claudePlugin }: GuardPrograms,
  { flags }: { readonly flags: readonly string[] },
): AgentGuard | null {
  if (flags.some((flag) => /^--(bare|safe-mode)$/.test(flag))) return null;
  const hooks = [{ type: 'command', command: hook, timeout: 60 }];
  const settings = JSON.stringify({
    disableAllHooks: false,
    hooks: { PreToolUse: [{ matcher: tools, hooks }] },
  });
  const isGiven = flags.some((flag) => flag === '--settings' || flag.startsWith('--settings='));
  return { args: isGiven ? ['--plugin-dir', claudePlugin] : ['--settings', settings], env: {} };
}

import { isObject } from '../../core/json.ts';
import type { AgentGuard, GuardPrograms } from '../adapter.ts';

/** Pattern of the tools whose calls the guard judges. */
export const guardedTools =
  '^(Bash|PowerShell|Monitor|Read|Grep|Write|Edit|MultiEdit|NotebookRead|NotebookEdit|mcp__.+)$';

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds a hook to the settings of this call alone. Of two `--settings` only the last counts, so ours include the user's.
 * A repository cannot switch this hook off; the flags `--bare` and `--safe-mode` do, so then there is no guard.
 */
export function guard(
  { hook, readJson }: GuardPrograms,
  { flags }: { readonly flags: readonly string[] },
): AgentGuard | null {
  if (flags.some((flag) => /^--(bare|safe-mode)$/.test(flag))) return null;
  const { value, others } = takeSettings(flags);
  const own = value === null ? {} : settingsOf(value, readJson);
  if (own === null) return null;
  const ours = { matcher: guardedTools, hooks: [{ type: 'command', command: hook, timeout: 60 }] };
  const hooks = own.hooks ?? {};
  if (!isObject(hooks)) return null;
  const before = hooks.PreToolUse ?? [];
  if (!Array.isArray(before)) return null;
  const settings = { ...own, disableAllHooks: false, hooks: { ...hooks, PreToolUse: [...before, ours] } };
  return {
    args: ['--settings', JSON.stringify(settings)],
    env: {},
    ...(value === null ? {} : { flags: others }),
  };
}

/** Splits the flags into the value of the last `--settings` and all others. */
function takeSettings(flags: readonly string[]): { value: string | null; others: string[] } {
  let value: string | null = null;
  const others: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const flag = flags[index] ?? '';
    if (flag === '--settings') value = flags[++index] ?? '';
    else if (flag.startsWith('--settings=')) value = flag.slice('--settings='.length);
    else others.push(flag);
  }
  return { value, others };
}

/** Reads settings that are given as JSON or as the path of a file. */
function settingsOf(text: string, readJson: GuardPrograms['readJson']): Json | null {
  const value = /^\s*\{.*\}\s*$/s.test(text) ? parse(text) : readJson(text);
  return isObject(value) ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

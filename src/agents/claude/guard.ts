import { isObject } from '../../core/json.ts';
import type { AgentGuard, GuardPrograms } from '../adapter.ts';

/** The tools whose calls the guard judges. */
export const guardedTools =
  '^(Bash|PowerShell|Monitor|Read|Grep|Write|Edit|MultiEdit|NotebookRead|NotebookEdit|mcp__.+)$';

type Json = Readonly<Record<string, unknown>>;

/**
 * A hook in settings of this call alone. Of two `--settings` only the last counts, so that the user's are put into ours. A
 * repository that switches all hooks off must not switch off this one; two flags do, and nothing helps.
 */
export function guard(
  { hook, readJson }: GuardPrograms,
  { flags }: { readonly flags: readonly string[] },
): AgentGuard | null {
  if (flags.some((flag) => /^--(bare|safe-mode)$/.test(flag))) return null;
  const { given, others } = takeSettings(flags);
  const own = given === null ? {} : settingsOf(given, readJson);
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
    ...(given === null ? {} : { flags: others }),
  };
}

/** What the last `--settings` says, and the words without any. */
function takeSettings(flags: readonly string[]): { given: string | null; others: string[] } {
  let given: string | null = null;
  const others: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const flag = flags[index] ?? '';
    if (flag === '--settings') given = flags[++index] ?? '';
    else if (flag.startsWith('--settings=')) given = flag.slice('--settings='.length);
    else others.push(flag);
  }
  return { given, others };
}

/** A file, or the settings themselves. */
function settingsOf(given: string, readJson: GuardPrograms['readJson']): Json | null {
  const value = /^\s*\{.*\}\s*$/s.test(given) ? parse(given) : readJson(given);
  return isObject(value) ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import { isObject } from '../../core/json.ts';
import type { GuardPrograms, GuardStarter, RunHook } from '../adapter.ts';
import type { HookEntry } from '../agent.ts';
import { type JsonRecord, parseRecord } from '../json.ts';

/** Pattern of the tools whose calls the guard judges. */
const guardedTools =
  '^(Bash|PowerShell|Monitor|Read|Grep|Write|Edit|MultiEdit|NotebookRead|NotebookEdit|mcp__.+)$';

/** Hooks that a run can bring along. Timeouts are in seconds. */
export const runHooks = {
  PreToolUse: { event: 'guard', matcher: guardedTools, timeout: 60 },
  PostToolUse: { event: 'context', matcher: '.*', timeout: 60 },
  Stop: { event: 'stop', timeout: 1800 },
} as const satisfies Record<string, HookEntry & { readonly event: RunHook }>;

/**
 * Adds hooks to the settings of this call alone. Of two `--settings` only the last counts, so ours include the user's.
 * A repository cannot switch them off; the flags `--bare` and `--safe-mode` do, so then there is no guard.
 */
export const guard: GuardStarter = ({ hook, readJson }, { flags }) => {
  if (flags.some((flag) => /^--(bare|safe-mode)$/.test(flag))) return null;
  const { value, others } = takeSettings(flags);
  const own = value === null ? {} : settingsOf(value, readJson);
  if (own === null) return null;
  const hooks = isObject(own.hooks ?? {}) ? withHooks(own.hooks ?? {}, hook) : null;
  if (hooks === null) return null;
  const settings = { ...own, disableAllHooks: false, hooks };
  return {
    args: ['--settings', JSON.stringify(settings)],
    env: {},
    ...(value === null ? {} : { flags: others }),
    ...(hook('stop') === null ? {} : { checksStops: true }),
  };
};

/** Returns the user's hooks and ours; null if theirs cannot be read. */
function withHooks(hooks: object, hook: GuardPrograms['hook']): JsonRecord | null {
  const all: Record<string, unknown> = { ...hooks };
  for (const [name, { event, timeout, ...where }] of Object.entries(runHooks)) {
    const command = hook(event);
    if (command === null) continue;
    const before = all[name] ?? [];
    if (!Array.isArray(before)) return null;
    all[name] = [...before, { ...where, hooks: [{ type: 'command', command, timeout }] }];
  }
  return all;
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
function settingsOf(text: string, readJson: GuardPrograms['readJson']): JsonRecord | null {
  const value = /^\s*\{.*\}\s*$/s.test(text) ? parseRecord(text) : readJson(text);
  return isObject(value) ? value : null;
}

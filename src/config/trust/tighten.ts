import { agentNameOf } from '../../agents/registry.ts';
import { isObject } from '../../core/json.ts';
import { type Settings, settingIn } from '../settings-layers.ts';
import type { SettingKey } from '../settings-schema.ts';

/** Returns the value that counts: what a project asks for if that is stricter, otherwise the user's own. */
type Rule = (wish: unknown, own: unknown, command: unknown) => unknown;

/** Settings that a file of the project may only make stricter. */
const rules: Partial<Record<SettingKey, Rule>> = {
  sandbox: (wish, own) => (wish === 'none' || (own !== undefined && own !== 'none') ? own : wish),
  // An image brings every program that the agent runs, with your login inside.
  sandboxImage: (_, own) => own,
  sandboxPaths: onlyOwn,
  sandboxEnv: onlyOwn,
  allowHosts: onlyOwn,
  sandboxChecks: stricter([false, true], true),
  guard: stricter(['off', 'auto', 'always'], 'auto'),
  'agent.permissions': stricter(['full', 'edit', 'read'], 'edit'),
  // Any other word of a known agent may loosen what it asks for, what it loads or whom it talks to.
  'agent.flags': (wish, own, command) => (isModel(wish) || isCustom(command) ? wish : own),
};

/** Returns the settings of a project without what is looser than the user's own, and a text for each value set aside. */
export function tighten(
  settings: Settings,
  own: Settings,
): { readonly value: Settings; readonly setAside: readonly string[] } {
  let value = settings;
  const command = settingIn(settings, 'agent.command') ?? settingIn(own, 'agent.command');
  const setAside: string[] = [];
  for (const key of Object.keys(rules) as (keyof typeof rules)[]) {
    const wish = settingIn(settings, key);
    if (wish === undefined) continue;
    const before = settingIn(own, key);
    const after = rules[key]?.(wish, before, command);
    if (!isSame(after, wish)) setAside.push(`${key} ${JSON.stringify(wish)}`);
    // What is as the user has it stays the user's.
    value = withSetting(value, key, isSame(after, before) ? undefined : after);
  }
  return { value, setAside };
}

/** Keeps the entries that the user lists, too. */
function onlyOwn(wish: unknown, own: unknown): unknown {
  const entries = Array.isArray(own) ? own : [];
  return Array.isArray(wish) ? entries.filter((entry) => wish.includes(entry)) : own;
}

/** True for words that only choose a model: `["--model opus"]`, `["--model", "opus"]` or `["--model=opus"]`. */
function isModel(flags: unknown): boolean {
  return Array.isArray(flags) && (flags.length === 0 || /^--model[= ][\w.:/-]+$/.test(flags.join(' ')));
}

function isCustom(command: unknown): boolean {
  return typeof command === 'string' && agentNameOf(command) === 'custom';
}

/** Compares by rank; `values` begins with the loosest. */
function stricter(values: readonly unknown[], fallback: unknown): Rule {
  return (wish, own) => (values.indexOf(wish) >= values.indexOf(own ?? fallback) ? wish : own);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function withSetting(value: Settings, key: string, to: unknown): Settings {
  const [name = '', inner] = key.split('.');
  const { [name]: outer, ...rest } = value;
  if (inner !== undefined) return { ...rest, [name]: withSetting(isObject(outer) ? outer : {}, inner, to) };
  return to === undefined ? rest : { ...rest, [name]: to };
}

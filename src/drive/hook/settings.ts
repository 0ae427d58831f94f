import { basename, join } from 'node:path';
import type { AgentHooks, HookEntry, HookEvent } from '../../agents/agent.ts';
import { list } from '../../agents/json.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { quoteWord } from '../../core/words.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Builds the hooks in the form that all hosts share; `command` returns the command line of an event. */
export function commandHooks(
  entries: Readonly<Record<string, HookEntry>>,
  command: (event: HookEvent) => string,
  label?: AgentHooks['label'],
): Json {
  return Object.fromEntries(
    Object.entries(entries).map(([name, { event, matcher, timeout }]) => {
      const hook = { type: 'command', command: command(event), timeout, ...label };
      return [name, [{ ...(matcher === undefined ? {} : { matcher }), hooks: [hook] }]];
    }),
  );
}

/** Returns how to build the command line of an event: it starts the gate of the package, on Windows node itself. */
export function hookCommand(
  { root, platform }: { readonly root: string; readonly platform: string },
  host?: string,
): (event: HookEvent) => string {
  const at = (...names: string[]) => join(root, 'plugins', 'claude-code', 'hooks', ...names);
  const start = (event: HookEvent) =>
    platform === 'win32'
      ? `node "${at('generated', `${event}.cjs`)}"`
      : `/bin/sh ${quoteWord(at('gate.sh'))} ${event}`;
  return (event) => [start(event), ...(host === undefined ? [] : [host])].join(' ');
}

/** Returns the settings with these hooks and without older ones of ours; everything else stays. */
export function withHooks(path: string, before: string | null, ours: Json): string | null {
  const settings = parseSettings(path, before);
  const old = isObject(settings.hooks) ? settings.hooks : {};
  const hooks = merge(old, ours);
  if (JSON.stringify(hooks) === JSON.stringify(old)) return before;
  const { hooks: _hooks, ...others } = settings;
  const after = Object.keys(hooks).length === 0 ? others : { ...settings, hooks };
  const indent = /^([ \t]+)"/m.exec(before ?? '')?.[1] ?? '  ';
  return `${JSON.stringify(after, null, indent)}\n`;
}

export function parseSettings(path: string, text: string | null): Json {
  if (text === null || text.trim() === '') return {};
  let value: unknown;
  let problem = 'it is not an object';
  try {
    value = JSON.parse(text);
  } catch (error) {
    problem = messageOf(error);
  }
  if (isObject(value)) return value;
  throw new RalphError(
    'settings-unreadable',
    `${path} is not valid JSON (${problem}), so nothing was changed.`,
    {
      remedy: `mend ${basename(path)} first`,
    },
  );
}

function merge(old: Json, ours: Json): Json {
  const groupsByEvent = new Map<string, unknown>();
  for (const [event, groups] of Object.entries(old)) {
    const others = Array.isArray(groups) ? groups.flatMap(withoutOurs) : groups;
    const isEmptied = list(groups).length > 0 && list(others).length === 0;
    if (!isEmptied) groupsByEvent.set(event, others);
  }
  for (const [event, groups] of Object.entries(ours))
    groupsByEvent.set(event, [...list(groupsByEvent.get(event)), ...list(groups)]);
  return Object.fromEntries(groupsByEvent);
}

function withoutOurs(group: unknown): unknown[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [group];
  const hooks = group.hooks.filter((hook) => !isOurs(hook));
  if (hooks.length === group.hooks.length) return [group];
  return hooks.length === 0 ? [] : [{ ...group, hooks }];
}

/** True for a command that `hookCommand` returned: it starts the gate, or on Windows a built hook. */
export function isOurs(hook: unknown): boolean {
  if (!isObject(hook) || typeof hook.command !== 'string') return false;
  const command = hook.command.replaceAll('\\', '/');
  return /\/plugins\/claude-code\/hooks\/(gate\.sh|generated\/[\w-]+\.cjs)['"]?( |$)/.test(command);
}

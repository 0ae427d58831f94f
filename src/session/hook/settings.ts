import { basename, join } from 'node:path';
import { messageOf, RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { commandLine, type StartIf } from './shell.ts';

/** A hook of ours: the built file, when node is started for it, and how long it may take in the host's own unit. */
export type HookEntry = {
  readonly file: string;
  readonly startIf: StartIf;
  readonly matcher?: string;
  readonly timeout: number;
};

/** The guard of commands, from the folder of any host's hooks: one serves them all. */
export const guard = '../../claude-code/hooks/guard.cjs';

type Json = Readonly<Record<string, unknown>>;

/** The hooks of a host that takes a command line; `folder` is the one of the built files. */
export function commandHooks(
  entries: Readonly<Record<string, HookEntry>>,
  folder: string,
  platform: string,
): Json {
  return Object.fromEntries(
    Object.entries(entries).map(([event, { file, startIf, matcher, timeout }]) => {
      const command = commandLine(startIf, join(folder, file), platform);
      const group = {
        ...(matcher === undefined ? {} : { matcher }),
        hooks: [{ type: 'command', command, timeout }],
      };
      return [event, [group]];
    }),
  );
}

/** The settings with these hooks and without any older ones of ours; all else stays. */
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
  const merged = new Map<string, unknown>(Object.entries(old));
  for (const [event, groups] of Object.entries(old)) {
    if (!Array.isArray(groups)) continue;
    const kept = groups.flatMap(withoutOurs);
    if (kept.length === 0 && groups.length > 0) merged.delete(event);
    else merged.set(event, kept);
  }
  for (const [event, groups] of Object.entries(ours)) {
    const kept = merged.get(event);
    merged.set(event, [...(Array.isArray(kept) ? kept : []), ...(Array.isArray(groups) ? groups : [])]);
  }
  return Object.fromEntries(merged);
}

function withoutOurs(group: unknown): unknown[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [group];
  const hooks = group.hooks.filter((hook) => !isOurs(hook));
  if (hooks.length === group.hooks.length) return [group];
  return hooks.length === 0 ? [] : [{ ...group, hooks }];
}

/** A hook that ends in one of the built files, as a word of its own or as the last of a command line. */
function isOurs(hook: unknown): boolean {
  if (!isObject(hook)) return false;
  const last = Array.isArray(hook.args) ? hook.args.at(-1) : hook.command;
  const path = String(last).replaceAll('\\', '/');
  return /\/plugins\/(claude-code|codex|gemini)\/hooks\/(stop|prompt|session-start|interrupt|guard|context-monitor)\.cjs['"]?$/.test(
    path,
  );
}

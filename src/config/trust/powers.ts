import { isObject } from '../../core/json.ts';
import { localFile, parseSettings, projectFile, resolveSettings, type Settings } from '../settings-layers.ts';
import { tighten } from './tighten.ts';

export const guardFile = '.ralph/guard.json';

/** Returns in plain words what a file of a project would do or decide. Limits and texts are no powers. */
export function powersOf(file: string, text: string): string[] {
  const powers = file === projectFile || file === localFile ? ofSettings(file, text) : ofOther(file, text);
  return [...new Set(powers.map(visible))];
}

function ofSettings(file: string, text: string): string[] {
  const value = parseSettings(text, file);
  const { agent, guardrails, verify, scm, notify, sandboxImage } = resolveSettings(value, file);
  const words = [...agent.flags, ...(agent.args ?? [])];
  return [
    ...texts(agent.command, (command) => `starts the agent ${command}`),
    ...(words.length === 0 ? [] : [`gives the agent the words: ${words.join(' ')}`]),
    ...Object.entries(agent.env).map(([name, content]) => `sets ${name}=${content} for the agent`),
    ...guardrails.map(({ command }) => `runs \`${command}\` as a guardrail`),
    ...verify.map((command) => `runs \`${command}\` before a claim is accepted`),
    ...(scm?.tasks ?? []).map((task) => `runs \`${scm?.command} ${task}\` when the guardrails pass`),
    ...texts(notify.webhook, (address) => `sends notifications to ${address}`),
    ...texts(notify.command?.join(' '), (command) => `runs \`${command}\` to notify`),
    ...texts(sandboxImage, (image) => `runs the agent in the image ${image}`),
    ...looser(value).map((setting) => `asks for ${setting}, which only you can loosen`),
  ];
}

/** Returns what would be set aside for a user without settings, so that the list does not depend on who looks. */
function looser(value: Settings): readonly string[] {
  return tighten(value, {}).setAside;
}

function ofOther(file: string, text: string): string[] {
  if (file.endsWith('.md')) return ['is the prompt of the agent'];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // TOML, or JSON with comments: its whole text counts.
    return text.trim() === '' ? [] : [`sets up the agent: ${text.trim()}`];
  }
  if (file === guardFile) return isObject(value) ? listed(value.allow).map(allowance) : [];
  return ofHost(value);
}

function allowance(rule: unknown): string {
  return `asks the guard to allow ${JSON.stringify(rule)}, which only you can loosen`;
}

/** Names of values that a host runs, loads, sends to or lets pass. */
const hostKeys =
  /^(args|allow|plugins?|url|httpUrl|defaultMode|enabled\w+|enableAll\w+|\w*(command|helper|refresh|export))$/i;

/** Collects such values in the settings of Claude Code, Codex, Gemini CLI and their like, at any depth. */
function ofHost(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(ofHost);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    if (key === 'env' && isObject(child))
      return Object.entries(child).map(([name, content]) => `sets ${name}=${content} for the agent`);
    if (!hostKeys.test(key)) return ofHost(child);
    return [`sets ${key} of the agent: ${typeof child === 'string' ? child : JSON.stringify(child)}`];
  });
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: string | undefined, describe: (value: string) => string): string[] {
  return value === undefined ? [] : [describe(value)];
}

/** Writes control and direction characters as escapes: a power must not hide in what a terminal does with its text. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

import { isObject } from '../../core/json.ts';
import { localFile, parseSettings, projectFile, resolveSettings, type Settings } from '../settings-layers.ts';
import { tighten } from './tighten.ts';

export const guardFile = '.ralph/guard.json';
/** Prompts that a loop takes without being told to. */
export const promptFiles = ['ralph/prompt.md', '.ralph/prompt.md'];

/** Returns in plain words what a file of a project would do or decide. Limits and texts are no powers. */
export function powersOf(file: string, text: string): string[] {
  const powers = file === projectFile || file === localFile ? ofSettings(file, text) : ofOther(file, text);
  return [...new Set(powers.map(visible))];
}

function ofSettings(file: string, text: string): string[] {
  const value = parseSettings(text, file);
  const { agent, guardrails, verify, scm, notify } = resolveSettings(value, file);
  const words = [...agent.flags, ...(agent.args ?? [])];
  return [
    ...texts(agent.command, (command) => `starts the agent ${command}`),
    ...(words.length === 0 ? [] : [`gives the agent the words: ${words.join(' ')}`]),
    ...Object.entries(agent.env).map(([name, content]) => `sets ${name}=${content} for the agent`),
    ...guardrails.map(({ command }) => `runs \`${command}\` as a guardrail`),
    ...verify.map((command) => `runs \`${command}\` before a claim is accepted`),
    ...(scm?.tasks ?? []).map((task) => `runs \`${scm?.command} ${task}\` when the guardrails pass`),
    ...[notify.webhook, notify.slack, notify.discord, notify.ntfy, notify.telegram, notify.email].flatMap(
      (address) => texts(address, (one) => `sends notifications to ${one}`),
    ),
    ...texts(notify.command?.join(' '), (command) => `runs \`${command}\` to notify`),
    ...looser(value).map((setting) => `asks for ${setting}, which only you can loosen`),
  ];
}

/** Returns what would be set aside for a user without settings, so that the list does not depend on who looks. */
function looser(value: Settings): readonly string[] {
  return tighten(value, {}).setAside;
}

function ofOther(file: string, text: string): string[] {
  if (promptFiles.includes(file)) return ['is the prompt of the agent'];
  if (file.endsWith('.md')) return ofHead(text);
  if (file.endsWith('.env')) return ofVariables(text);
  if (!/\.(jsonc?|toml|rules)$/.test(file)) return ['is a program that the agent loads'];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // TOML, or JSON with comments: its whole text counts.
    return text.trim() === '' ? [] : [`sets up the agent: ${text.trim()}`];
  }
  if (file === guardFile) return isObject(value) ? listed(value.allow).map(allowance) : [];
  return ofHost(value, []);
}

/** Returns the head of a command, skill or subagent of Claude Code if it may run or allow something. */
function ofHead(text: string): string[] {
  const head = /^---\r?\n([\s\S]*?)\n---/.exec(text)?.[1] ?? '';
  return /hooks|mcp|allowed|permission|\\/i.test(head) ? [`sets up the agent: ${head.trim()}`] : [];
}

/** Returns the variables of an environment file that lead an agent elsewhere or load something into it. */
function ofVariables(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/^\s*(export\s+)?/, '').trim());
  return lines
    .filter((line) => /^(LD_|DYLD_|NODE_OPTIONS|\w*(URL|PROXY|ENDPOINT|PATH))\w*\s*=/i.test(line))
    .map((line) => `sets ${line} for the agent`);
}

function allowance(rule: unknown): string {
  return `asks the guard to allow ${JSON.stringify(rule)}, which only you can loosen`;
}

/** Texts and limits of hosts, and what makes them stricter. */
const harmless =
  /^(\$schema|type|name|description|version|model|theme|language|matcher|timeout\w*|statusMessage|deny|ask)$/;

/** Collects all other values in the settings of Claude Code, Codex, Gemini CLI and their like: no list of bad ones is whole. */
function ofHost(value: unknown, path: readonly string[]): string[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, child]) => ofHost(child, [...path, key]));
  if (Array.isArray(value) && value.some((child) => typeof child === 'object'))
    return value.flatMap((child) => ofHost(child, path));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [parent, key = ''] = path.slice(-2);
  if (parent === 'env') return [`sets ${key}=${text} for the agent`];
  return harmless.test(path.at(-1) ?? '') ? [] : [`sets ${path.join('.')} of the agent: ${text}`];
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

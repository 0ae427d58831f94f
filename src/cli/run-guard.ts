import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentGuard, GuardPrograms } from '../agents/adapter.ts';
import { isObject } from '../core/json.ts';
import { quoteWord } from '../core/words.ts';
import type { RunAgent } from '../loop/run-spec.ts';
import { createRedactor } from '../safety/redact.ts';
import type { ProviderName } from '../safety/sandbox/sandbox.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';
import { sha256 } from '../system/crypto.ts';
import { readJson, readText } from '../system/files.ts';
import { findPackageRoot } from './package-root.ts';
import type { Context } from './spec.ts';

/** What puts the guard before the tools of a run's agent, and what the user is told about it. */
export type RunGuard = { readonly guard: AgentGuard; readonly line: string };

const off: AgentGuard = { args: [], env: { RALPH_GUARD: 'off' } };
const on = { RALPH_GUARD: 'always' };

/** In a sandbox the guard is not needed; where that brings its own agent, a hook of this machine is not in reach. */
export function guardRun(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { guard: setting, agent: { flags, env: agentEnv } }: ResolvedSettings,
  { adapter, version }: Pick<RunAgent, 'adapter' | 'version'>,
  run: string,
  sandbox: { readonly provider: ProviderName; readonly bringsAgent: boolean } | null = null,
): RunGuard {
  if (setting === 'off' || (sandbox !== null && setting === 'auto'))
    return { guard: off, line: 'the guard is off' };
  if (sandbox?.bringsAgent)
    return { guard: off, line: `the guard cannot be in ${sandbox.provider}, which has an agent of its own` };
  const around = { version, flags, env: { ...env, ...agentEnv } };
  const root = findPackageRoot();
  const found = root === null ? null : (adapter.guard?.(programsIn(root, run, cwd), around) ?? null);
  if (found !== null) {
    const guard = { ...found, env: { ...found.env, ...on } };
    return { guard, line: 'the guard judges its tool calls first ("guard": "off" in the settings for none)' };
  }
  const installed = adapter.name === 'gemini' && hasGeminiHook(cwd, env);
  if (installed) return { guard: { args: [], env: on }, line: 'the guard judges its tool calls first' };
  const way = adapter.name === 'gemini' ? ' (ralph install gemini puts it there)' : '';
  return { guard: { args: [], env: on }, line: `the guard does not see its tool calls${way}` };
}

function programsIn(root: string, run: string, cwd: string): GuardPrograms {
  return {
    hook: hookLine(join(root, 'plugins', 'claude-code', 'hooks', 'generated', 'start.cjs'), run),
    opencodePlugin: join(root, 'dist', 'lib', 'opencode-guard.js'),
    sha256,
    readJson: (path) => withoutSecrets(resolve(cwd, path)),
  };
}

/** Everybody on this machine sees a command line: what holds a secret stays in its file. */
function withoutSecrets(path: string): unknown {
  const file = readJson(path);
  if (!file.ok || !isObject(file.value)) return null;
  const env = Object.entries(isObject(file.value.env) ? file.value.env : {});
  const texts = env.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const text = JSON.stringify(file.value);
  return createRedactor(Object.fromEntries(texts)).text(text) === text ? file.value : null;
}

/**
 * This very Node, since the agent may not find another. Where it does not come to its end, a refusal; a host that ends it
 * would let the call pass, so that a limit does before. The settings of a repository may give a hook other variables.
 */
function hookLine(path: string, run: string): string {
  if (process.platform === 'win32') return `node "${path}" guard`;
  // In Node 20 these certificates triple the start, and a hook has no use for them.
  const env = `NODE_EXTRA_CA_CERTS= NODE_OPTIONS= RALPH_GUARD=always RALPH_RUN_ID=${quoteWord(run)}`;
  return `ulimit -t 10 2>/dev/null; ${env} ${quoteWord(process.execPath)} ${quoteWord(path)} guard || exit 2`;
}

/** Gemini takes hooks from its settings alone. */
function hasGeminiHook(cwd: string, env: Context['env']): boolean {
  const homes = [cwd, env.GEMINI_CLI_HOME || env.HOME || homedir()];
  const files = homes.map((folder) => join(folder, '.gemini', 'settings.json'));
  return files.some((path) => readText(path)?.includes(' guard gemini'));
}

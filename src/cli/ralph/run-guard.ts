import { join, resolve } from 'node:path';
import type { AgentGuard, GuardPrograms } from '../../agents/adapter.ts';
import type { AgentHooks } from '../../agents/agent.ts';
import { agentNameOf, agents } from '../../agents/registry.ts';
import { compileCacheFolder } from '../../config/paths.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { isObject } from '../../core/json.ts';
import { quoteWord } from '../../core/words.ts';
import { hooksFile } from '../../drive/hook/hook-installer.ts';
import type { RunAgent } from '../../drive/process/run-spec.ts';
import { sha256 } from '../../os/crypto.ts';
import { readJson, readText } from '../../os/files/files.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import type { ProviderName } from '../../sandbox/sandbox.ts';
import { findPackageRoot } from '../kernel/package-root.ts';
import type { Context } from '../kernel/spec.ts';

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
  const found = root === null ? null : (adapter.guard?.(programsIn(root, run, { cwd, env }), around) ?? null);
  if (found !== null) {
    const guard = { ...found, env: { ...found.env, ...on } };
    return { guard, line: 'the guard judges its tool calls first ("guard": "off" in the settings for none)' };
  }
  const hooks = adapter.guard === null ? agents[agentNameOf(adapter.name)].hooks : null;
  if (hooks !== null && hasGuardHook(hooks, adapter.name, { cwd, env }))
    return { guard: { args: [], env: on }, line: 'the guard judges its tool calls first' };
  const way = hooks === null ? '' : ` (ralph install ${adapter.name} puts it there)`;
  return { guard: { args: [], env: on }, line: `the guard does not see its tool calls${way}` };
}

function programsIn(root: string, run: string, { cwd, env }: Pick<Context, 'cwd' | 'env'>): GuardPrograms {
  return {
    hook: hookLine(join(root, 'plugins', 'claude-code', 'hooks', 'generated', 'guard.cjs'), run, env),
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
function hookLine(path: string, run: string, env: Context['env']): string {
  if (process.platform === 'win32') return `node "${path}"`;
  // In Node 20 these certificates triple the start, and a hook has no use for them.
  const own = `NODE_EXTRA_CA_CERTS= NODE_OPTIONS= NODE_COMPILE_CACHE=${quoteWord(compileCacheFolder(env))}`;
  const guarded = `RALPH_GUARD=always RALPH_RUN_ID=${quoteWord(run)}`;
  return `ulimit -t 10 2>/dev/null; ${own} ${guarded} ${quoteWord(process.execPath)} ${quoteWord(path)} || exit 2`;
}

/** Whether the settings of an agent that takes hooks from there alone have ours, as the gate or as its own file. */
function hasGuardHook(hooks: AgentHooks, host: string, place: Pick<Context, 'cwd' | 'env'>): boolean {
  const files = (['project', 'user'] as const).map((scope) => hooksFile(hooks, { ...place, scope }));
  const starts = [` guard ${host}`, `guard.cjs\\" ${host}`];
  return files.some((path) => starts.some((start) => readText(path)?.includes(start)));
}

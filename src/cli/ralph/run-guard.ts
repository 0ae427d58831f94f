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

/** The settings that switch the guard on or off for a run's agent, and the line that tells the user. */
export type RunGuard = { readonly guard: AgentGuard; readonly line: string };

const off: AgentGuard = { args: [], env: { RALPH_GUARD: 'off' } };
const on = { RALPH_GUARD: 'always' };

/** A sandbox makes the guard unnecessary; one that brings its own agent cannot reach a hook of this machine. */
export function guardRun(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { guard: setting, agent: { flags, env: agentEnv } }: ResolvedSettings,
  { adapter, version, run }: Pick<RunAgent, 'adapter' | 'version'> & { readonly run: string },
  sandbox: { readonly provider: ProviderName; readonly bringsAgent: boolean } | null = null,
): RunGuard {
  if (setting === 'off' || (sandbox !== null && setting === 'auto'))
    return { guard: off, line: 'the guard is off' };
  if (sandbox?.bringsAgent)
    return { guard: off, line: `the guard cannot be in ${sandbox.provider}, which has an agent of its own` };
  const around = { version, flags, env: { ...env, ...agentEnv } };
  const root = findPackageRoot();
  const own = root === null ? null : (adapter.guard?.(programsIn(root, run, { cwd, env }), around) ?? null);
  if (own !== null) {
    const guard = { ...own, env: { ...own.env, ...on } };
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

/** Null for a file with secrets, because everybody on this machine can read a command line. */
function withoutSecrets(path: string): unknown {
  const file = readJson(path);
  if (!file.ok || !isObject(file.value)) return null;
  const env = Object.entries(isObject(file.value.env) ? file.value.env : {});
  const texts = env.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const text = JSON.stringify(file.value);
  return createRedactor(Object.fromEntries(texts)).text(text) === text ? file.value : null;
}

/**
 * The command line of the hook, with this Node, since the agent may not find another. A hook that fails refuses the call.
 * The CPU limit ends a hook that hangs before the host would, which lets the call pass. The variables are set here because
 * the settings of a repository may set others.
 */
function hookLine(path: string, run: string, env: Context['env']): string {
  if (process.platform === 'win32') return `node "${path}"`;
  // In Node 20 these certificates triple the start, and a hook has no use for them.
  const own = `NODE_EXTRA_CA_CERTS= NODE_OPTIONS= NODE_COMPILE_CACHE=${quoteWord(compileCacheFolder(env))}`;
  const guarded = `RALPH_GUARD=always RALPH_RUN_ID=${quoteWord(run)}`;
  return `ulimit -t 10 2>/dev/null; ${own} ${guarded} ${quoteWord(process.execPath)} ${quoteWord(path)} || exit 2`;
}

/** True if the hooks file of an agent has our guard, through the gate or as a file of its own. */
function hasGuardHook(hooks: AgentHooks, host: string, place: Pick<Context, 'cwd' | 'env'>): boolean {
  const files = (['project', 'user'] as const).map((scope) => hooksFile(hooks, { ...place, scope }));
  const starts = [` guard ${host}`, `guard.cjs\\" ${host}`];
  return files.some((path) => starts.some((start) => readText(path)?.includes(start)));
}

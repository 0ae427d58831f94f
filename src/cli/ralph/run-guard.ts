import { join, resolve } from 'node:path';
import type { AgentGuard, GuardPrograms, RunHook } from '../../agents/adapter.ts';
import type { AgentHooks } from '../../agents/agent.ts';
import { agentNameOf, agents } from '../../agents/registry.ts';
import { compileCacheFolder } from '../../config/paths.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { isObject } from '../../core/json.ts';
import { quoteWord } from '../../core/words.ts';
import { hooksFile } from '../../drive/hook/hook-installer.ts';
import type { RunAgent } from '../../drive/process/run-spec.ts';
import { sha256 } from '../../os/crypto.ts';
import { lstatOf, readJson, readText } from '../../os/files/files.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import type { ProviderName } from '../../sandbox/sandbox.ts';
import { findPlugin } from '../kernel/package-root.ts';
import type { Context } from '../kernel/spec.ts';

/** The settings that switch the guard on or off for a run's agent, and the line that tells the user. */
export type RunGuard = { readonly guard: AgentGuard; readonly line: string };

const judges = 'the guard judges its tool calls first ("guard": "off" in the settings for none)';
const off = { RALPH_GUARD: 'off' };
const on = { RALPH_GUARD: 'always' };

/** True for a sandbox with programs of its own, the agent among them. */
export function bringsAgent(sandbox: ProviderName | null): boolean {
  return sandbox !== null && sandbox !== 'bwrap' && sandbox !== 'none';
}

/** A run whose agent gets hooks: the guard, and those that its kind of loop asks for. */
type HookedRun = Pick<RunAgent, 'adapter' | 'version'> & {
  readonly run: string;
  readonly hooks?: readonly RunHook[];
};

/** A sandbox makes the guard unnecessary; one that brings its own agent cannot reach a hook of this machine. */
export function guardRun(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { guard: setting, agent: { flags, env: agentEnv } }: ResolvedSettings,
  { adapter, version, run, hooks: others = [] }: HookedRun,
  sandbox: ProviderName | null = null,
): RunGuard {
  const isOff = setting === 'off' || (sandbox !== null && setting === 'auto');
  const offLine = setting === 'off' ? 'the guard is off' : 'the guard is off, as the sandbox protects more';
  if (adapter.protocol === 'acp')
    return { guard: { args: [], env: isOff ? off : on }, line: isOff ? offLine : judges };
  if (bringsAgent(sandbox)) {
    const line = `the guard cannot be in ${sandbox}, which has an agent of its own`;
    return { guard: { args: [], env: off }, line: isOff ? offLine : line };
  }
  const around = { version, flags, env: { ...env, ...agentEnv } };
  const plugin = findPlugin();
  const wanted: readonly RunHook[] = isOff ? others : ['guard', ...others];
  const programs = plugin && wanted.length > 0 && programsIn(plugin, wanted, run, { cwd, env });
  const own = (programs && adapter.guard?.(programs, around)) || null;
  if (isOff) return { guard: { args: [], ...own, env: { ...own?.env, ...off } }, line: offLine };
  if (own !== null) {
    const guard = { ...own, env: { ...own.env, ...on } };
    return { guard, line: judges };
  }
  const hooks = adapter.guard === null ? agents[agentNameOf(adapter.name)].hooks : null;
  if (hooks !== null && hasHook('guard', hooks, adapter.name, { cwd, env }))
    return { guard: { args: [], env: on }, line: 'the guard judges its tool calls first' };
  const way = hooks === null ? '' : ` (ralph install ${adapter.name} puts it there)`;
  return { guard: { args: [], env: on }, line: `the guard does not see its tool calls${way}` };
}

/** True if the agent has its stop hook from `ralph install`. */
export function hasStopHook(name: string, place: Pick<Context, 'cwd' | 'env'>): boolean {
  const { hooks } = agents[agentNameOf(name)];
  return hooks !== null && hasHook('stop', hooks, name, place);
}

function programsIn(
  plugin: string,
  wanted: readonly RunHook[],
  run: string,
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
): GuardPrograms {
  const opencodePlugin = join(plugin, '../../dist/lib/opencode-guard.js');
  return {
    hook: (name) =>
      wanted.includes(name) ? hookLine(join(plugin, 'hooks/generated', `${name}.cjs`), name, run, env) : null,
    opencodePlugin: wanted.includes('guard') && lstatOf(opencodePlugin) ? opencodePlugin : null,
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
 * The command line of a hook, with this Node, since the agent may not find another. A guard that fails refuses the call.
 * The CPU limit ends a hook that hangs before the host would, which lets the call pass. The variables are set here because
 * the settings of a repository may set others.
 */
function hookLine(path: string, name: RunHook, run: string, env: Context['env']): string {
  if (process.platform === 'win32') return `node "${path}"`;
  // In Node 20 these certificates triple the start, and a hook has no use for them.
  const own = `NODE_EXTRA_CA_CERTS= NODE_OPTIONS= NODE_COMPILE_CACHE=${quoteWord(compileCacheFolder(env))}`;
  const call = `RALPH_RUN_ID=${quoteWord(run)} ${quoteWord(process.execPath)} ${quoteWord(path)}`;
  if (name !== 'guard') return `${own} ${call}`;
  return `ulimit -t 10 2>/dev/null; ${own} RALPH_GUARD=always ${call} || exit 2`;
}

/** True if the hooks file of an agent has our hook, through the gate or as a file of its own. */
function hasHook(name: RunHook, hooks: AgentHooks, host: string, place: Pick<Context, 'cwd' | 'env'>) {
  const files = (['project', 'user'] as const).map((scope) => hooksFile(hooks, { ...place, scope }));
  const starts = [` ${name} ${host}`, `${name}.cjs\\" ${host}`];
  return files.some((path) => starts.some((start) => readText(path)?.includes(start)));
}

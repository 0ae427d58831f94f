import { agentNameOf } from '../../agents/registry.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import type { SandboxSpec } from '../../sandbox/sandbox.ts';
import { findPlugin } from '../kernel/package-root.ts';
import type { Context } from '../kernel/spec.ts';

/** The sandbox of an agent by the settings; `command` is its command, or the name of its adapter. */
export function sandboxSpec(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  settings: ResolvedSettings,
  agent: { readonly command: string; readonly program?: string; readonly needsHooks?: boolean },
): SandboxSpec {
  const plugin = findPlugin();
  const { sandboxPaths, sandboxEnv, sandboxImage, allowHosts } = settings;
  return {
    cwd,
    env,
    agentEnv: settings.agent.env,
    agent: agentNameOf(agent.command),
    ...(agent.program === undefined ? {} : { program: agent.program }),
    ...(sandboxImage === undefined ? {} : { image: sandboxImage }),
    allowHosts,
    paths: sandboxPaths,
    // It has the hooks.
    packages: (settings.guard === 'always' || agent.needsHooks) && plugin !== null ? [plugin] : [],
    variables: sandboxEnv,
  };
}

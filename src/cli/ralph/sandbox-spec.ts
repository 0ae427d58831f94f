import { agentNameOf } from '../../agents/registry.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import type { SandboxSpec } from '../../sandbox/sandbox.ts';
import { findPackageRoot } from '../kernel/package-root.ts';
import type { Context } from '../kernel/spec.ts';

/** The sandbox of an agent by the settings; `command` is its command, or the name of its adapter. */
export function sandboxSpec(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  settings: ResolvedSettings,
  agent: { readonly command: string; readonly program?: string },
): SandboxSpec {
  const root = findPackageRoot();
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
    // It has the hook of the guard.
    packages: settings.guard === 'always' && root !== null ? [root] : [],
    variables: sandboxEnv,
  };
}

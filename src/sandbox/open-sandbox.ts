import { RalphError } from '../core/error.ts';
import { findRepository } from '../os/git/git.ts';
import { closeInherited } from '../os/process/inherited-handles.ts';
import { outsideEnvironment } from '../os/process/process.ts';
import { bwrapAvailable, createBwrap } from './bwrap.ts';
import { containerAvailable, createContainer } from './container.ts';
import { createDockerSandbox, dockerSandboxAvailable } from './docker-sandbox.ts';
import {
  type Availability,
  noSandbox,
  type ProviderName,
  type Sandbox,
  type SandboxChoice,
  type SandboxSpec,
} from './sandbox.ts';
import { createSbx, sbxAvailable } from './sbx.ts';

type ProbeSpec = Pick<SandboxSpec, 'cwd' | 'env' | 'image'>;

type Provider = {
  available(spec: ProbeSpec): Promise<Availability>;
  create(spec: SandboxSpec): Sandbox;
};

/** Every provider there is: a name without one does not compile. */
const providers: Record<ProviderName, Provider> = {
  sbx: { available: ({ env }) => sbxAvailable(env), create: createSbx },
  'docker-sandbox': { available: ({ env }) => dockerSandboxAvailable(env), create: createDockerSandbox },
  bwrap: { available: ({ env }) => bwrapAvailable(env), create: createBwrap },
  container: { available: containerAvailable, create: createContainer },
  none: { available: async () => ({ ok: true, detail: 'nothing is kept apart' }), create: () => noSandbox },
};

/** Providers that `auto` tries, the strongest first. */
const autoOrder = ['sbx', 'bwrap', 'container'] as const satisfies readonly ProviderName[];

/** Chooses a sandbox that works here and makes it ready. Everything that starts an agent calls this. */
export async function openSandbox(
  choice: SandboxChoice,
  spec: SandboxSpec,
  how: { readonly resumed?: boolean } = {},
): Promise<Sandbox> {
  const sandbox = createSandbox(await chooseProvider(choice, spec, ''), spec);
  try {
    if (sandbox !== noSandbox) closeInherited();
    await sandbox.prepare(how);
    return sandbox;
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** Starts and writes nothing yet. */
export function createSandbox(provider: ProviderName, spec: SandboxSpec): Sandbox {
  return providers[provider].create(spec);
}

/** Returns the provider for a choice. Fails with a remedy if it does not work here, and never takes a weaker one. */
export async function chooseProvider(
  choice: SandboxChoice,
  spec: ProbeSpec,
  otherwise = '; or run without one, unprotected: --no-sandbox',
): Promise<ProviderName> {
  const candidates = choice === 'auto' ? autoOrder : [choice];
  const reasons: string[] = [];
  let remedy: string | undefined;
  let other: string | undefined;
  for (const name of candidates) {
    const availability = await providers[name].available(outside(spec));
    if (availability.ok) return name;
    reasons.push(availability.why);
    if (name === 'bwrap') remedy = availability.remedy;
    else other ??= availability.remedy;
  }
  const what =
    choice === 'auto' ? 'there is no sandbox on this machine' : `the sandbox ${choice} cannot be used`;
  throw new RalphError('no-sandbox', `${what}: ${reasons.join('; ')}`, {
    remedy: `${remedy ?? other ?? 'ralph sandbox status'}${otherwise}`,
    exitCode: 2,
  });
}

export async function lookAtProviders(
  spec: ProbeSpec,
): Promise<readonly (readonly [ProviderName, Availability])[]> {
  const names = ['sbx', 'docker-sandbox', 'bwrap', 'container'] as const;
  return Promise.all(
    names.map(async (name) => [name, await providers[name].available(outside(spec))] as const),
  );
}

/** Leaves the project out of PATH: programs that make a sandbox are not taken from there. */
function outside(spec: ProbeSpec): ProbeSpec {
  return { ...spec, env: outsideEnvironment(spec.env, findRepository(spec.cwd) ?? spec.cwd) };
}

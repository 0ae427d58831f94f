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

type Looked = Pick<SandboxSpec, 'cwd' | 'env' | 'image'>;

type Provider = {
  available(spec: Looked): Promise<Availability>;
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

/** What `auto` tries, the strongest first. */
const autoOrder = ['sbx', 'bwrap', 'container'] as const satisfies readonly ProviderName[];

/**
 * The one way to a sandbox, for everything that starts an agent: chooses, checks that it works here, and makes it
 * ready. It never settles for less than what was asked for.
 */
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

/** Nothing is started or written yet. */
export function createSandbox(provider: ProviderName, spec: SandboxSpec): Sandbox {
  return providers[provider].create(spec);
}

/** Which provider a choice means here; an error with what to do, `otherwise` too, where it cannot be had. */
export async function chooseProvider(
  choice: SandboxChoice,
  spec: Looked,
  otherwise = '; or run without one, unprotected: --no-sandbox',
): Promise<ProviderName> {
  const wanted = choice === 'auto' ? autoOrder : [choice];
  const reasons: string[] = [];
  let remedy: string | undefined;
  let other: string | undefined;
  for (const name of wanted) {
    const found = await providers[name].available(outside(spec));
    if (found.ok) return name;
    reasons.push(found.why);
    if (name === 'bwrap') remedy = found.remedy;
    else other ??= found.remedy;
  }
  const what =
    choice === 'auto' ? 'there is no sandbox on this machine' : `the sandbox ${choice} cannot be used`;
  throw new RalphError('no-sandbox', `${what}: ${reasons.join('; ')}`, {
    remedy: `${remedy ?? other ?? 'ralph sandbox status'}${otherwise}`,
    exitCode: 2,
  });
}

/** What each provider says of itself here. */
export async function lookAtProviders(
  spec: Looked,
): Promise<readonly (readonly [ProviderName, Availability])[]> {
  const names = ['sbx', 'docker-sandbox', 'bwrap', 'container'] as const;
  return Promise.all(
    names.map(async (name) => [name, await providers[name].available(outside(spec))] as const),
  );
}

/** The programs that make a sandbox are not looked for in the project. */
function outside(spec: Looked): Looked {
  return { ...spec, env: outsideEnvironment(spec.env, findRepository(spec.cwd) ?? spec.cwd) };
}

import { randomBytes } from 'node:crypto';
import { RalphError } from '../core/error.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { rootCapabilities } from './bwrap.ts';
import { namesToPass, proxyVariables } from './environment.ts';
import { socketsIn } from './folders.ts';
import { createLocalParts } from './local.ts';
import { inOrder, type Mount } from './mounts.ts';
import { innerProgram } from './network.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

type Engine = 'docker' | 'podman';

/** Ours inside. */
const own = '/ralph';
const label = 'ralph.sandbox';

/** Whether docker or podman runs and has the image. */
export async function containerAvailable({
  env,
  image,
}: Pick<SandboxSpec, 'env' | 'image'>): Promise<Availability> {
  const engines = await enginesIn(env);
  const working = engines.find(({ version }) => version !== null);
  if (working === undefined) {
    const why = engines.map(({ engine, problem }) => `${engine} does not answer: ${problem}`).join('; ');
    const remedy =
      engines.length === 0
        ? 'install docker or podman: https://docs.docker.com/engine/install/'
        : `start its service, and see: ${engines[0]?.engine} version`;
    return { ok: false, why: why || 'neither docker nor podman is installed', remedy };
  }
  const { engine, version } = working;
  if (image === undefined) {
    const remedy = 'set sandboxImage in .ralph/settings.json to an image with node, git and your agent';
    return { ok: false, why: `${engine} works, but no image is named`, remedy };
  }
  const found = await createTool([engine], env).ask(['image', 'inspect', '--format', '{{.Id}}', image]);
  if (found.exitCode === 0) return { ok: true, detail: `${engine} ${version}, image ${image}` };
  return { ok: false, why: `${engine} has no image ${image}`, remedy: `${engine} pull ${image}` };
}

/** Docker or podman with an image of the user's: the project and a home are all that it has of this machine. */
export function createContainer(spec: SandboxSpec): Sandbox {
  const parts = createLocalParts(spec);
  const { place } = parts;
  const { name } = place;
  const outside = outsideEnvironment(spec.env, place.root);
  const image = spec.image ?? '';
  const mine = `label=${label}=${name}`;
  let engine: Engine | null = null;

  async function ask(...words: string[]): Promise<string> {
    engine ??= await engineOf(outside);
    return (await createTool([engine], outside).ask(words)).stdout;
  }

  /** Also those of a run that was killed. */
  async function removeContainers(): Promise<void> {
    const ids = (await ask('ps', '--all', '--quiet', '--filter', mine)).split('\n').filter(Boolean);
    if (ids.length > 0) await ask('rm', '--force', ...ids);
  }

  return {
    provider: 'container',
    name,
    async prepare() {
      await parts.open();
      await removeContainers();
    },
    wrap(argv, env, cwd) {
      const { mounts, network, standIns } = parts.opened();
      standIns.place();
      const all = inOrder([
        { path: `${own}/home`, from: parts.home, writable: true },
        { path: `${own}/inner.cjs`, from: innerProgram(), writable: false },
        { path: `${own}/proxy`, from: network.socket, writable: true },
        ...mounts,
        ...socketsIn(place.root).map((path) => ({ path, from: '/dev/null', writable: false })),
      ]);
      const variables = namesToPass(env, parts.variables);
      const set = { ...proxyVariables(network.port), HOME: `${own}/home` };
      const program = engine ?? 'docker';
      const options = [
        ...['run', '--rm', '-i', '--init', '--name', `${name}-${randomBytes(4).toString('hex')}`],
        ...['--label', `${label}=${name}`, '--network', 'none', '--read-only', '--tmpfs', '/tmp:exec'],
        ...['--security-opt', 'no-new-privileges', '--security-opt', 'label=disable', '--workdir', cwd],
        ...userOptions(program),
        ...all.flatMap((mount) => ['--mount', mountOption(mount)]),
        ...variables.flatMap((each) => ['--env', each]),
        ...Object.entries(set).flatMap(([each, value]) => ['--env', `${each}=${value}`]),
      ];
      const inner = ['node', `${own}/inner.cjs`, `${own}/proxy`, String(network.port)];
      return {
        argv: [program, ...options, image, ...inner, network.forwards.join(','), ...argv],
        env: outsideEnvironment(env, place.root),
        failure: containerFailure,
      };
    },
    async settle() {
      await removeContainers();
      parts.settle();
    },
    async stop() {
      await removeContainers();
      await parts.close();
    },
    async remove() {
      await removeContainers();
      parts.remove();
    },
    async status() {
      const running = (await ask('ps', '--quiet', '--filter', mine)).trim() !== '';
      const kept = parts.kept();
      const state = running ? 'running' : kept === null ? 'absent' : 'ready';
      return { name, state, detail: kept ?? '' };
    },
  };
}

type Found = { readonly engine: Engine; readonly version: string | null; readonly problem: string };

/** Those that are installed, docker first. That a client is installed does not mean that its service runs. */
async function enginesIn(env: SandboxSpec['env']): Promise<Found[]> {
  const installed = (['docker', 'podman'] as const).filter((name) => findProgram(name, env) !== null);
  const words = ['version', '--format', '{{.Server.Version}}'];
  return Promise.all(
    installed.map(async (engine) => {
      const result = await createTool([engine], env).ask(words, { timeoutMs: 30_000 });
      return {
        engine,
        version: result.exitCode === 0 ? result.stdout.trim() : null,
        problem: reasonOf(result),
      };
    }),
  );
}

async function engineOf(env: SandboxSpec['env']): Promise<Engine> {
  return (await enginesIn(env)).find(({ version }) => version !== null)?.engine ?? 'docker';
}

/** As the same user, so that the files in the project stay his. */
function userOptions(engine: Engine): string[] {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()];
  const drop = ['--cap-drop', 'ALL'];
  if (uid === 0) return [...drop, ...rootCapabilities.flatMap((name) => ['--cap-add', name])];
  return [...drop, '--user', `${uid}:${gid}`, ...(engine === 'podman' ? ['--userns', 'keep-id'] : [])];
}

/** Fields of CSV: a comma in a path would end it. */
function mountOption({ path, from, writable }: Mount): string {
  const fields = ['type=bind', `source=${from}`, `target=${path}`, ...(writable ? [] : ['readonly'])];
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

/** 125 is the engine's own; 126 and 127 say that there is no node in the image, for nothing else is started there. */
function containerFailure(exitCode: number | null, stderr: string): RalphError | null {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  if (exitCode === 125) return new RalphError('sandbox-failed', `the container did not start: ${said}`);
  if ((exitCode === 126 || exitCode === 127) && /\bnode\b/.test(said)) {
    return new RalphError('sandbox-image', `the image has no node, which the sandbox needs: ${said}`);
  }
  return null;
}

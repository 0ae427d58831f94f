import { RalphError } from '../core/error.ts';
import { randomHex } from '../os/crypto.ts';
import { type Argv, type Environment, findProgram, outsideEnvironment } from '../os/process/process.ts';
import { rootCapabilities } from './bwrap.ts';
import { hideVariables, namesToPass, proxyVariables } from './environment.ts';
import { socketsIn } from './folders.ts';
import { createLocalSandbox, inOrder, type LocalParts, type Mount } from './local.ts';
import { innerProgram, innerWords } from './network.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

type Program = 'docker' | 'podman';

/** Folder of our own files inside. */
const own = '/ralph';
const label = 'ralph.sandbox';

/** Tries whether docker or podman runs and has the image. */
export async function containerAvailable({
  env,
  image,
}: Pick<SandboxSpec, 'env' | 'image'>): Promise<Availability> {
  const programs = await installedPrograms(env);
  const match = programs.find(({ version }) => version !== null);
  if (match === undefined) {
    const why = programs.map(({ program, problem }) => `${program} does not answer: ${problem}`).join('; ');
    const remedy =
      programs.length === 0
        ? 'install docker or podman: https://docs.docker.com/engine/install/'
        : `start its service, and see: ${programs[0]?.program} version`;
    return { ok: false, why: why || 'neither docker nor podman is installed', remedy };
  }
  const { program, version } = match;
  if (image === undefined) {
    const remedy = 'set sandboxImage in .ralph/settings.json to an image with node, git and your agent';
    return { ok: false, why: `${program} works, but no image is named`, remedy };
  }
  const inspection = await createTool([program], env).ask(['image', 'inspect', '--format', '{{.Id}}', image]);
  if (inspection.exitCode === 0) return { ok: true, detail: `${program} ${version}, image ${image}` };
  return { ok: false, why: `${program} has no image ${image}`, remedy: `${program} pull ${image}` };
}

/** Docker or podman with the user's image: it has only the project and a home of this machine. */
export function createContainer(spec: SandboxSpec): Sandbox {
  return createLocalSandbox(spec, (parts) => {
    const { root, name } = parts.place;
    const outside = outsideEnvironment(spec.env, root);
    const ownFilter = ['--filter', `label=${label}=${name}`];
    let program: Program | null = null;

    async function ask(...words: string[]): Promise<string> {
      program ??=
        (await installedPrograms(outside)).find(({ version }) => version !== null)?.program ?? 'docker';
      return (await createTool([program], outside).ask(words)).stdout;
    }

    /** Removes also the containers of a run that was killed. */
    async function end(): Promise<void> {
      const ids = (await ask('ps', '--all', '--quiet', ...ownFilter)).split('\n').filter(Boolean);
      if (ids.length > 0) await ask('rm', '--force', ...ids);
    }

    return {
      provider: 'container',
      prepare: end,
      wrap(argv, env, cwd, alone = {}) {
        const inner = hideVariables(argv, withoutOurs(alone));
        const variables = [...namesToPass(env, parts.variables), ...inner.names];
        return {
          argv: containerArgv(program ?? 'docker', { spec, parts, variables, cwd, argv: inner.argv }),
          env: { ...outsideEnvironment(env, root), ...inner.env },
          failure: containerFailure,
        };
      },
      end,
      isRunning: async () => (await ask('ps', '--quiet', ...ownFilter)).trim() !== '',
    };
  });
}

type InnerCommand = {
  readonly spec: SandboxSpec;
  readonly parts: LocalParts;
  /** Names of variables in the environment of the client. */
  readonly variables: readonly string[];
  readonly cwd: string;
  readonly argv: readonly string[];
};

/** Removes variables that the container sets itself: they lead to its network and its home. */
function withoutOurs(alone: Environment): Environment {
  const ours = { ...proxyVariables(0), HOME: '' };
  return Object.fromEntries(Object.entries(alone).filter(([name]) => !Object.hasOwn(ours, name)));
}

function containerArgv(program: Program, { spec, parts, variables, cwd, argv }: InnerCommand): Argv {
  const { name, root } = parts.place;
  const { mounts, network, standIns } = parts.opened();
  standIns.place();
  const all = inOrder([
    { path: `${own}/home`, from: parts.home, writable: true },
    { path: `${own}/inner.cjs`, from: innerProgram(), writable: false },
    { path: `${own}/proxy`, from: network.socket, writable: true },
    ...mounts,
    ...socketsIn(root).map((path) => ({ path, from: '/dev/null', writable: false })),
  ]);
  const values = Object.entries({ ...proxyVariables(network.port), HOME: `${own}/home` });
  return [
    program,
    ...['run', '--rm', '-i', '--init', '--name', `${name}-${randomHex(4)}`],
    ...['--label', `${label}=${name}`, '--network', 'none', '--read-only', '--tmpfs', '/tmp:exec'],
    ...['--security-opt', 'no-new-privileges', '--security-opt', 'label=disable', '--workdir', cwd],
    ...userOptions(program),
    ...all.flatMap((mount) => ['--mount', mountOption(mount)]),
    ...variables.flatMap((each) => ['--env', each]),
    ...values.flatMap(([each, value]) => ['--env', `${each}=${value}`]),
    ...[spec.image ?? '', 'node', ...innerWords(own, network), ...argv],
  ];
}

/** Returns docker and podman if they are installed, and the version of the service behind each if it answers. */
async function installedPrograms(env: Environment) {
  const names = (['docker', 'podman'] as const).filter((name) => findProgram(name, env) !== null);
  const words = ['version', '--format', '{{.Server.Version}}'];
  return Promise.all(
    names.map(async (program) => {
      const result = await createTool([program], env).ask(words, { timeoutMs: 30_000 });
      const version = result.exitCode === 0 ? result.stdout.trim() : null;
      return { program, version, problem: reasonOf(result) };
    }),
  );
}

/** Runs as the same user, so that the files in the project stay theirs. */
function userOptions(program: Program): string[] {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()];
  const drop = ['--cap-drop', 'ALL'];
  if (uid === 0) return [...drop, ...rootCapabilities.flatMap((name) => ['--cap-add', name])];
  return [...drop, '--user', `${uid}:${gid}`, ...(program === 'podman' ? ['--userns', 'keep-id'] : [])];
}

/** Returns fields of CSV: a comma in a path would end it. */
function mountOption({ path, from, writable }: Mount): string {
  const fields = ['type=bind', `source=${from}`, `target=${path}`, ...(writable ? [] : ['readonly'])];
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

/** 125 comes from docker or podman itself; 126 and 127 mean that the image has no node, the only program started there. */
function containerFailure(exitCode: number | null, stderr: string): RalphError | null {
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  if (exitCode === 125) return new RalphError('sandbox-failed', `the container did not start: ${lastLine}`);
  if ((exitCode === 126 || exitCode === 127) && /\bnode\b/.test(lastLine)) {
    return new RalphError('sandbox-image', `the image has no node, which the sandbox needs: ${lastLine}`);
  }
  return null;
}

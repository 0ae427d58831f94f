import { join } from 'node:path';
import { RalphError } from '../core/error.ts';
import { readText, writeAtomic } from '../os/files/files.ts';
import { realPath } from '../os/files/real-path.ts';
import { type Argv, findProgram, outsideEnvironment, runCommand } from '../os/process/process.ts';
import { passVariables, proxyVariables, variablesInside } from './environment.ts';
import { callFilter } from './filter.ts';
import { hiddenPlaces, socketsIn, toolPlaces } from './folders.ts';
import { createLocalSandbox, inOrder, type LocalParts, type Mount } from './local.ts';
import { innerProgram, innerWords, type Network } from './network.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';

/** Folder of our own files inside. */
const own = '/run/ralph';
const namespaces = ['pid', 'net', 'ipc', 'uts'].map((name) => `--unshare-${name}`);

/** Capabilities of root: enough to work on files of others and to nest sandboxes, nothing that could undo a mount. */
export const rootCapabilities: readonly string[] = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETUID',
  'SETGID',
  'SETFCAP',
];
/** Settings that root may write even without capabilities: a core pattern is a program that the kernel starts outside. */
const kernelSettings = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** Tries whether bubblewrap may make namespaces, which many systems forbid. */
export async function bwrapAvailable(env: SandboxSpec['env']): Promise<Availability> {
  const program = findProgram('bwrap', env);
  if (process.platform !== 'linux') return { ok: false, why: 'bubblewrap is for Linux' };
  if (program === null) {
    return { ok: false, why: 'bubblewrap is not installed', remedy: 'apt-get install bubblewrap' };
  }
  const words = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...namespaces, ...asRoot()];
  const [trial, version] = await Promise.all([
    runCommand([program, ...words, 'true'], { cwd: '/', env, timeoutMs: 15_000 }),
    versionOf(program, env),
  ]);
  if (trial.exitCode === 0) return { ok: true, detail: version };
  const why = trial.stderr.trim().split('\n')[0] || `exit code ${trial.exitCode}`;
  return { ok: false, why: `bubblewrap cannot make a sandbox here: ${why}`, remedy: namespaceRemedy() };
}

/** Namespaces of the kernel: the machine read-only, the project writable, a home and a network of its own. */
export function createBwrap(spec: SandboxSpec): Sandbox {
  return createLocalSandbox(spec, (parts) => {
    const { place, folder } = parts;
    const program = findProgram('bwrap', outsideEnvironment(spec.env, place.root)) ?? '/usr/bin/bwrap';
    const filter = join(folder, 'filter');
    const variables = join(folder, 'variables');
    return {
      provider: 'bwrap',
      async prepare() {
        const bytes = callFilter();
        if (bytes !== null) writeAtomic(filter, bytes, { fsync: false });
      },
      wrap(argv, env, cwd, alone = {}) {
        const { mounts, network, standIns } = parts.opened();
        standIns.place();
        const inner = { ...variablesInside(alone), ...proxyVariables(network.port), HOME: place.home };
        writeAtomic(variables, setOptions(inner), { fsync: false });
        return {
          argv: [
            ...withFiles(program, variables, filter),
            ...mountOptions(spec, parts, mounts),
            ...ownOptions(network),
            ...['--chdir', realPath(cwd), '--', process.execPath],
            ...innerWords(own, network),
            ...argv,
          ],
          env: passVariables(env, parts.variables),
          failure: bwrapFailure,
        };
      },
    };
  });
}

/** Looks anew for each command: services come and go. */
function mountOptions(spec: SandboxSpec, { place, home }: LocalParts, mounts: readonly Mount[]): string[] {
  const hidden = hiddenPlaces(spec.env, place.root);
  // Ours, too: hooks of the agent may call it.
  const programs = [process.execPath, process.argv[1], spec.program].filter((path) => path !== undefined);
  const packages = spec.packages ?? [];
  const tools = toolPlaces(spec.env, { programs, packages }, hidden, [place.root, home]);
  const all = inOrder([
    { path: place.home, from: home, writable: true },
    // Not over a path that the user has named.
    ...tools
      .filter((path) => !mounts.some((mount) => mount.path === path))
      .map((path) => ({ path, from: path, writable: false })),
    ...mounts,
    ...socketsIn(place.root).map((path) => ({ path, from: '/dev/null', writable: false })),
  ]);
  return [
    ...['--die-with-parent', '--new-session', ...namespaces, '--unshare-cgroup-try', ...asRoot()],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...keepKernelSettings()],
    ...hidden.folders.flatMap((path) => ['--tmpfs', path]),
    ...hidden.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...all.flatMap(({ path, from, writable }) => [writable ? '--bind' : '--ro-bind', from, path]),
  ];
}

function ownOptions({ socket }: Network): string[] {
  return [
    ...['--ro-bind', innerProgram(), `${own}/inner.cjs`, '--ro-bind', socket, `${own}/proxy`],
    ...['--remount-ro', '/run'],
  ];
}

/** Bubblewrap reads options and a filter from files that are open already: everybody can read its command line. */
function withFiles(program: string, options: string, filter: string): Argv {
  const start = (script: string, ...words: string[]): Argv => ['/bin/sh', '-c', script, options, ...words];
  if (callFilter() === null) return start('exec "$@" 3<"$0"', program, '--args', '3');
  const script = 'filter=$1; shift; exec "$@" 3<"$0" 4<"$filter"';
  return start(script, filter, program, '--args', '3', '--seccomp', '4');
}

/** Returns the options that set variables inside, in the form of `--args`. */
function setOptions(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `--setenv\0${name}\0${value}\0`)
    .join('');
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asRoot(): string[] {
  if (!isRoot()) return [];
  return ['--cap-drop', 'ALL', ...rootCapabilities.flatMap((name) => ['--cap-add', `CAP_${name}`])];
}

/** Only for root: others cannot write there, and mounts in /proc keep an agent from nesting a sandbox. */
function keepKernelSettings(): string[] {
  return isRoot() ? kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]) : [];
}

/** Returns the command that allows namespaces to users on this kernel. */
function namespaceRemedy(): string {
  const isOn = (name: string, value: string) => readText(`/proc/sys/kernel/${name}`)?.trim() === value;
  if (isOn('apparmor_restrict_unprivileged_userns', '1'))
    return 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile of AppArmor for bwrap';
  if (isOn('unprivileged_userns_clone', '0')) return 'sudo sysctl -w kernel.unprivileged_userns_clone=1';
  return 'allow namespaces here (in a container: docker run --security-opt seccomp=unconfined)';
}

async function versionOf(program: string, env: SandboxSpec['env']): Promise<string> {
  const { stdout } = await runCommand([program, '--version'], { cwd: '/', env });
  return stdout.trim() || 'bubblewrap';
}

/** Bubblewrap prints one line of its own if it starts nothing. */
function bwrapFailure(exitCode: number | null, stderr: string): RalphError | null {
  if (exitCode !== 1 || !/^bwrap: [^\n]*\n?$/.test(stderr)) return null;
  return new RalphError('sandbox-failed', `the sandbox could not be made: ${stderr.trim()}`, {
    remedy: 'ralph sandbox rm, and then the same command again',
  });
}

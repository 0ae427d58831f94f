import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { sandboxFolder } from '../../store/paths.ts';
import { ensureDir, listDir, lstatOf } from '../../system/files.ts';
import { gitFolders } from '../../system/git.ts';
import { findProgram, runCommand } from '../../system/process.ts';
import { realPath } from '../../system/real-path.ts';
import { removeTempDir } from '../../system/temp.ts';
import { agentNeeds } from './agents.ts';
import { passVariables, proxyVariables } from './environment.ts';
import { hiddenPlaces, toolPlaces } from './folders.ts';
import { createPrivateHome } from './home.ts';
import { extraMounts, inOrder, projectMounts } from './mounts.ts';
import { innerProgram, type Network, openNetwork } from './network.ts';
import { placeOf } from './place.ts';
import { protectProject } from './protect.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createStandIns, type StandIns } from './stand-ins.ts';

/** Ours inside. */
const own = '/run/ralph';
const namespaces = ['pid', 'net', 'ipc', 'uts'].map((name) => `--unshare-${name}`);

/** For root: enough to work on files of others, and to nest sandboxes; nothing that could undo a mount. */
export const rootCapabilities: readonly string[] = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETUID',
  'SETGID',
  'SETFCAP',
];
/** What root may write even without capabilities: a core pattern is a program that the kernel starts outside. */
const kernelSettings = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** Whether bubblewrap is there and may make namespaces, which many systems forbid. */
export async function bwrapAvailable(env: SandboxSpec['env']): Promise<Availability> {
  const program = findProgram('bwrap', env);
  if (process.platform !== 'linux') return { ok: false, why: 'bubblewrap is for Linux' };
  if (program === null) {
    return { ok: false, why: 'bubblewrap is not installed', remedy: 'apt-get install bubblewrap' };
  }
  const words = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...namespaces, ...asRoot()];
  const tried = await runCommand([program, ...words, 'true'], { cwd: '/', env, timeoutMs: 15_000 });
  if (tried.exitCode === 0) return { ok: true, detail: await versionOf(program, env) };
  const why = tried.stderr.trim().split('\n')[0] || `exit code ${tried.exitCode}`;
  return { ok: false, why: `bubblewrap cannot make a sandbox here: ${why}` };
}

/** Namespaces of the kernel: the machine read-only, the project writable, a home and a network of its own. */
export function createBwrap(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const needs = agentNeeds[spec.agent];
  const folder = sandboxFolder(spec.env, place.name);
  const home = createPrivateHome(join(folder, 'home'), spec.env, needs);
  const also = [...needs.variables, ...(spec.variables ?? [])];
  let ready: { options: readonly string[]; network: Network; standIns: StandIns } | null = null;

  return {
    provider: 'bwrap',
    name: place.name,
    summary: `bubblewrap, where only ${place.root} can be changed`,
    bringsAgent: false,
    async prepare() {
      await ready?.network.close();
      ensureDir(folder);
      await home.fill();
      const protection = protectProject(place.root, place.cwd, await gitFolders(place.cwd));
      const standIns = createStandIns(folder, protection.readOnly);
      standIns.clear();
      const hidden = hiddenPlaces(spec.env, place.root);
      const inner = innerProgram();
      const programs = [process.execPath, ...(spec.program === undefined ? [] : [spec.program])];
      const tools = toolPlaces(spec.env, programs, hidden, [place.root, folder]);
      const mounts = inOrder([
        { path: place.home, from: home.folder, writable: true },
        ...tools.map((path) => ({ path, from: path, writable: false })),
        ...extraMounts(spec.paths ?? []),
        ...projectMounts(protection),
      ]);
      const network = await openNetwork(spec);
      const options = [
        ...['--die-with-parent', '--new-session', ...namespaces, '--unshare-cgroup-try', ...asRoot()],
        ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...keepKernelSettings()],
        ...hidden.folders.flatMap((path) => ['--tmpfs', path]),
        ...hidden.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
        ...mounts.flatMap(({ path, from, writable }) => [writable ? '--bind' : '--ro-bind', from, path]),
        ...['--ro-bind', inner, `${own}/inner.cjs`, '--ro-bind', network.socket, `${own}/proxy`],
        ...['--remount-ro', '/run'],
      ];
      ready = { options, network, standIns };
    },
    wrap(argv, env, cwd) {
      if (ready === null) throw new Error('the sandbox is not prepared');
      const { options, network, standIns } = ready;
      standIns.place();
      const variables = { ...passVariables(env, also), ...proxyVariables(network.port), HOME: place.home };
      const start = [process.execPath, `${own}/inner.cjs`, `${own}/proxy`, String(network.port)];
      return {
        argv: [
          findProgram('bwrap', spec.env) ?? 'bwrap',
          ...[...options, '--chdir', realPath(cwd), '--'],
          ...[...start, network.forwards.join(','), ...argv],
        ],
        env: variables,
        failure: bwrapFailure,
      };
    },
    async settle() {
      ready?.standIns.clear();
      home.giveBack();
    },
    async stop() {
      ready?.standIns.clear();
      home.giveBack();
      await ready?.network.close();
      ready = null;
    },
    async remove() {
      createStandIns(folder, []).clear();
      removeTempDir(folder);
    },
    async status() {
      const { name } = place;
      const state = lstatOf(folder) ? 'ready' : 'absent';
      const used = state === 'ready' ? `, ${listDir(home.folder).length} entries` : '';
      return { provider: 'bwrap', name, state, detail: `home in ${home.folder}${used}` };
    },
  };
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asRoot(): string[] {
  if (!isRoot()) return [];
  return ['--cap-drop', 'ALL', ...rootCapabilities.flatMap((name) => ['--cap-add', `CAP_${name}`])];
}

/** Not for others: they cannot write there, and a /proc with mounts in it keeps an agent from nesting a sandbox. */
function keepKernelSettings(): string[] {
  return isRoot() ? kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]) : [];
}

async function versionOf(program: string, env: SandboxSpec['env']): Promise<string> {
  const { stdout } = await runCommand([program, '--version'], { cwd: '/', env });
  return stdout.trim() || 'bubblewrap';
}

/** It says one line of its own, and nothing was started. */
function bwrapFailure(exitCode: number | null, stderr: string): RalphError | null {
  if (exitCode !== 1 || !/^bwrap: [^\n]*\n?$/.test(stderr)) return null;
  return new RalphError('sandbox-failed', `the sandbox could not be made: ${stderr.trim()}`, {
    remedy: 'ralph sandbox rm, and then the same command again',
  });
}

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agents } from '../agents/registry.ts';
import { systemClock } from '../os/clock.ts';
import type { FileSnapshot } from '../os/files/file-snapshot.ts';
import { ensureDir, lstatOf, readText, writeAtomic } from '../os/files/files.ts';
import type { GitFolders } from '../os/git/git.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { namesToPass } from './environment.ts';
import { homeOf } from './folders.ts';
import { markedCommand } from './marked.ts';
import { gitOf, pathsToShow, placeOf } from './place.ts';
import { snapshotProject } from './project-snapshot.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

/** Time until files from inside are here: they come by a synchronisation. */
const settleMs = 2500;
const createTimeoutMs = 15 * 60_000;
/** Folder of the login, which outlives a sandbox; not `~/.claude` itself. */
const stateName = '.dclaude_state';

export async function dockerSandboxAvailable(env: SandboxSpec['env']): Promise<Availability> {
  const remedy = 'install Docker Desktop with its sandboxes, or take their successor: --sandbox sbx';
  if (findProgram('docker', env) === null) return { ok: false, why: 'docker is not installed', remedy };
  const listing = await createTool(['docker', 'sandbox'], env).ask(['ls'], { timeoutMs: 30_000 });
  if (listing.exitCode === 0) return { ok: true, detail: 'Docker Desktop sandboxes (deprecated: see sbx)' };
  return { ok: false, why: `docker sandbox does not answer: ${reasonOf(listing)}`, remedy };
}

/** The sandboxes of Docker Desktop 4.58: create, set up by exec, run. */
export function createDockerSandbox(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const name = `ralph-${place.root.replace(/[^A-Za-z0-9._-]/g, '_')}`;
  const state = join(homeOf(spec.env), stateName);
  const docker = createTool(['docker', 'sandbox'], outsideEnvironment(spec.env, place.root));
  const also = [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])];
  let project: FileSnapshot | null = null;

  const exists = async (): Promise<boolean> =>
    (await docker.must(['ls'])).split('\n').some((line) => line.trim().split(/\s+/).includes(name));

  async function create(git: GitFolders | null): Promise<void> {
    const paths = [...pathsToShow(place, git, spec.paths), state];
    await docker.must(['create', '--name', name, spec.agent, ...paths], { timeoutMs: createTimeoutMs });
    await docker.must(['exec', '-i', '-u', 'root', '-e', `RALPH_STATE_DIR=${state}`, name, 'bash', '-s'], {
      stdin: readText(setupScript()) ?? '',
    });
  }

  return {
    provider: 'docker-sandbox',
    name,
    async prepare({ resumed = false } = {}) {
      const git = await gitOf(place);
      project = snapshotProject(place.root, git);
      keepLogin(state);
      if (!(await exists())) return create(git);
      // Once a file was taken over, changes of it out here are not seen inside until the next start.
      if (resumed) await docker.must(['stop', name]);
    },
    wrap(argv, variables, cwd) {
      const env = outsideEnvironment(variables, place.root);
      const [program, ...words] = argv;
      // The agent that the sandbox was made for is run; anything else is executed beside it.
      if (program === spec.agent && spec.agent === 'claude') {
        return { argv: ['docker', 'sandbox', 'run', name, '--', ...words], env, promptAsWord: true };
      }
      const { argv: inner, check } = markedCommand(argv, `docker sandbox ls, or: docker sandbox rm ${name}`);
      const options = ['-i', '-w', cwd, ...namesToPass(env, also).flatMap((each) => ['-e', each])];
      return { argv: ['docker', 'sandbox', 'exec', ...options, name, ...inner], env, ...check };
    },
    async settle() {
      await systemClock.sleep(settleMs);
      project?.restore();
    },
    async stop() {
      project?.restore();
      await docker.ask(['stop', name]);
    },
    async remove() {
      if (await exists()) await docker.must(['rm', name]);
    },
    freshHome: async () => {},
    async status() {
      return { name, state: (await exists()) ? 'ready' : 'absent', detail: `login in ${state}` };
    },
  };
}

/** Makes the files of the login. An empty one would not do: it has to be JSON. */
function keepLogin(state: string): void {
  ensureDir(join(state, '.claude'));
  const file = join(state, '.claude.json');
  if (!lstatOf(file)) writeAtomic(file, '{}\n');
}

function setupScript(): string {
  const places = ['../plugins', '../../plugins', '../../../plugins'].map((folder) =>
    fileURLToPath(new URL(`${folder}/claude-code/sandbox/setup.sh`, import.meta.url)),
  );
  return places.find((path) => lstatOf(path)) ?? places[0] ?? '';
}

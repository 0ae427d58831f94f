import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agents } from '../agents/registry.ts';
import { systemClock } from '../os/clock.ts';
import { ensureDir, lstatOf, readText, writeAtomic } from '../os/files/files.ts';
import type { HeldFiles } from '../os/files/held-files.ts';
import type { GitFolders } from '../os/git/git.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { namesToPass } from './environment.ts';
import { homeOf } from './folders.ts';
import { holdProject } from './held.ts';
import { markedCommand } from './marked.ts';
import { gitOf, placeOf, workspacesOf } from './place.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

/** Files come over by a synchronisation that is not immediate. */
const settleMs = 2500;
const createTimeoutMs = 15 * 60_000;
/** Not in `~/.claude` itself: the login lasts while sandboxes come and go. */
const stateName = '.dclaude_state';

export async function dockerSandboxAvailable(env: SandboxSpec['env']): Promise<Availability> {
  const remedy = 'install Docker Desktop with its sandboxes, or take their successor: --sandbox sbx';
  if (findProgram('docker', env) === null) return { ok: false, why: 'docker is not installed', remedy };
  const listed = await createTool(['docker', 'sandbox'], env).ask(['ls'], { timeoutMs: 30_000 });
  if (listed.exitCode === 0) return { ok: true, detail: 'Docker Desktop sandboxes (deprecated: see sbx)' };
  return { ok: false, why: `docker sandbox does not answer: ${reasonOf(listed)}`, remedy };
}

/** The sandboxes of Docker Desktop 4.58: create, set up by exec, run. */
export function createDockerSandbox(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const name = `ralph-${place.root.replace(/[^A-Za-z0-9._-]/g, '_')}`;
  const state = join(homeOf(spec.env), stateName);
  const docker = createTool(['docker', 'sandbox'], outsideEnvironment(spec.env, place.root));
  const also = [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])];
  let held: HeldFiles | null = null;

  const find = async (): Promise<boolean> =>
    (await docker.must(['ls'])).split('\n').some((line) => line.trim().split(/\s+/).includes(name));

  async function create(git: GitFolders | null): Promise<void> {
    const workspaces = [...workspacesOf(place, git, spec.paths), state];
    await docker.must(['create', '--name', name, spec.agent, ...workspaces], { timeoutMs: createTimeoutMs });
    const setup = readText(setupScript()) ?? '';
    await docker.must(['exec', '-i', '-u', 'root', '-e', `RALPH_STATE_DIR=${state}`, name, 'bash', '-s'], {
      stdin: setup,
    });
  }

  return {
    provider: 'docker-sandbox',
    name,
    async prepare({ resumed = false } = {}) {
      const git = await gitOf(place);
      held = holdProject(place.root, git);
      keepLogin(state);
      if (!(await find())) return create(git);
      // Once a file was taken over, changes of it out here are not seen inside until the next start.
      if (resumed) await docker.must(['stop', name]);
    },
    wrap(argv, given, cwd) {
      const env = outsideEnvironment(given, place.root);
      const [program, ...words] = argv;
      // The agent that the sandbox was made for is run; anything else is executed beside it.
      if (program === spec.agent && spec.agent === 'claude') {
        return { argv: ['docker', 'sandbox', 'run', name, '--', ...words], env, promptAsWord: true };
      }
      const variables = namesToPass(env, also);
      const marked = markedCommand(argv, `docker sandbox ls, or: docker sandbox rm ${name}`);
      const options = ['-i', '-w', cwd, ...variables.flatMap((each) => ['-e', each])];
      return { argv: ['docker', 'sandbox', 'exec', ...options, name, ...marked.argv], env, ...marked.check };
    },
    async settle() {
      await systemClock.sleep(settleMs);
      held?.restore();
    },
    async stop() {
      held?.restore();
      await docker.ask(['stop', name]);
    },
    async remove() {
      if (await find()) await docker.must(['rm', name]);
    },
    async status() {
      const there = await find();
      return {
        name,
        state: there ? 'ready' : 'absent',
        detail: `login in ${state}`,
      };
    },
  };
}

/** An empty file would not do: what is read there has to be JSON. */
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

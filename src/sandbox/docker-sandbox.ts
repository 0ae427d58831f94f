import { join } from 'node:path';
import { ensureDir, lstatOf, readText, writeAtomic } from '../os/files/files.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { homeOf } from './folders.ts';
import { createMachine, createTimeoutMs } from './machine.ts';
import { placeOf } from './place.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

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
  return createMachine(spec, place, {
    provider: 'docker-sandbox',
    name,
    tool: docker,
    list: ['ls'],
    namesIn: (listing) => listing.split(/\s+/),
    async create(paths) {
      keepLogin(state);
      await docker.must(['create', '--name', name, spec.agent, ...paths, state], {
        timeoutMs: createTimeoutMs,
      });
      await docker.must(['exec', '-i', '-u', 'root', '-e', `RALPH_STATE_DIR=${state}`, name, 'bash', '-s'], {
        stdin: readText(setupScript()) ?? '',
      });
    },
    async reopen({ resumed }) {
      keepLogin(state);
      // Once a file was taken over, changes of it out here are not seen inside until the next start.
      if (resumed) await docker.must(['stop', name]);
    },
    removal: ['rm', name],
    // The agent that the sandbox was made for is run; anything else is executed beside it.
    ownCommand: ([program, ...words]) =>
      program === spec.agent && spec.agent === 'claude'
        ? { argv: ['docker', 'sandbox', 'run', name, '--', ...words], promptAsWord: true }
        : null,
    // Files come by a synchronisation.
    settleMs: 2500,
    remedy: `docker sandbox ls, or: docker sandbox rm ${name}`,
    detail: `login in ${state}`,
  });
}

/** Makes the files of the login. An empty one would not do: it has to be JSON. */
function keepLogin(state: string): void {
  ensureDir(join(state, '.claude'));
  const file = join(state, '.claude.json');
  if (!lstatOf(file)) writeAtomic(file, '{}\n');
}

function setupScript(): string {
  const packages = ['../plugins', '../../plugins', '../../../plugins'].map(
    (folder) => `${folder}/claude-code`,
  );
  const places = [...packages, '../..'].map((plugin) =>
    join(import.meta.dirname, plugin, 'sandbox/setup.sh'),
  );
  return places.find((path) => lstatOf(path)) ?? places[0] ?? '';
}

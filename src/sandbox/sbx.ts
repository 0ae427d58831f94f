import { agents } from '../agents/registry.ts';
import { isObject } from '../core/json.ts';
import type { FileSnapshot } from '../os/files/file-snapshot.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { namesToPass } from './environment.ts';
import { markedCommand } from './marked.ts';
import { gitOf, pathsToShow, placeOf } from './place.ts';
import { snapshotProject } from './project-snapshot.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

/** The first start fetches an image. */
const createTimeoutMs = 15 * 60_000;

export async function sbxAvailable(env: SandboxSpec['env']): Promise<Availability> {
  if (findProgram('sbx', env) === null) {
    const remedy = 'install Docker Sandboxes: https://docs.docker.com/ai/sandboxes/';
    return { ok: false, why: 'sbx is not installed', remedy };
  }
  const listing = await createTool(['sbx'], env).ask(['ls', '--json'], { timeoutMs: 30_000 });
  if (listing.exitCode === 0 && namesIn(listing.stdout) !== null)
    return { ok: true, detail: 'Docker Sandboxes (sbx)' };
  const why = `sbx does not answer: ${reasonOf(listing)}`;
  return { ok: false, why, remedy: 'sbx login && sbx policy init balanced' };
}

/** Docker Sandboxes: a virtual machine of its own for the project, with the agent in it. */
export function createSbx(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const { name } = place;
  const sbx = createTool(['sbx'], outsideEnvironment(spec.env, place.root));
  const also = [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])];
  let project: FileSnapshot | null = null;

  const exists = async (): Promise<boolean> =>
    namesIn(await sbx.must(['ls', '--json']))?.includes(name) ?? false;

  return {
    provider: 'sbx',
    name,
    async prepare() {
      const git = await gitOf(place);
      project = snapshotProject(place.root, git);
      if (await exists()) return;
      const agent = agents[spec.agent].sandbox.hasTemplate ? spec.agent : 'shell';
      await sbx.must(['create', '--name', name, agent, ...pathsToShow(place, git, spec.paths)], {
        timeoutMs: createTimeoutMs,
      });
      // A leading asterisk means the same to sbx, all hosts are two of them.
      const rules = (spec.allowHosts ?? []).map((host) => (host === '*' ? '**' : host)).join(',');
      if (rules !== '') await sbx.must(['policy', 'allow', 'network', '--sandbox', name, rules]);
    },
    wrap(argv, env, cwd) {
      const variables = namesToPass(env, also);
      const { argv: words, check } = markedCommand(argv, `ralph sandbox status, or: sbx rm --force ${name}`);
      return {
        argv: ['sbx', 'exec', '-i', '-w', cwd, ...variables.flatMap((each) => ['-e', each]), name, ...words],
        env: outsideEnvironment(env, place.root),
        ...check,
      };
    },
    async settle() {
      project?.restore();
    },
    async stop() {
      project?.restore();
      await sbx.ask(['stop', name]);
    },
    async remove() {
      if (await exists()) await sbx.must(['rm', '--force', name]);
    },
    freshHome: async () => {},
    async status() {
      return { name, state: (await exists()) ? 'ready' : 'absent', detail: 'sbx ls shows more' };
    },
  };
}

/** Returns the names in the output of `sbx ls --json`, which begins with other text if the daemon was not running. */
function namesIn(output: string): string[] | null {
  const begin = output.search(/^\s*[[{]/m);
  if (begin < 0) return null;
  try {
    return namesOf(JSON.parse(output.slice(begin)));
  } catch {
    return null;
  }
}

function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesOf);
  if (!isObject(value)) return [];
  if (typeof value.name === 'string') return [value.name];
  return Object.values(value).filter(Array.isArray).flatMap(namesOf);
}

import { agents } from '../agents/registry.ts';
import { isObject } from '../core/json.ts';
import type { HeldFiles } from '../os/files/held-files.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { namesToPass } from './environment.ts';
import { holdProject } from './held.ts';
import { markedCommand } from './marked.ts';
import { gitOf, placeOf, workspacesOf } from './place.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

/** The first start fetches an image. */
const createTimeoutMs = 15 * 60_000;

export async function sbxAvailable(env: SandboxSpec['env']): Promise<Availability> {
  if (findProgram('sbx', env) === null) {
    const remedy = 'install Docker Sandboxes: https://docs.docker.com/ai/sandboxes/';
    return { ok: false, why: 'sbx is not installed', remedy };
  }
  const listed = await createTool(['sbx'], env).ask(['ls', '--json'], { timeoutMs: 30_000 });
  if (listed.exitCode === 0 && namesIn(listed.stdout) !== null)
    return { ok: true, detail: 'Docker Sandboxes (sbx)' };
  const why = `sbx does not answer: ${reasonOf(listed)}`;
  return { ok: false, why, remedy: 'sbx login && sbx policy init balanced' };
}

/** Docker Sandboxes: a virtual machine of its own for the project, with the agent in it. */
export function createSbx(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const { name } = place;
  const sbx = createTool(['sbx'], outsideEnvironment(spec.env, place.root));
  const also = [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])];
  let held: HeldFiles | null = null;

  const find = async (): Promise<boolean> =>
    namesIn(await sbx.must(['ls', '--json']))?.includes(name) ?? false;

  return {
    provider: 'sbx',
    name,
    async prepare() {
      const git = await gitOf(place);
      held = holdProject(place.root, git);
      if (await find()) return;
      const agent = agents[spec.agent].sandbox.hasTemplate ? spec.agent : 'shell';
      await sbx.must(['create', '--name', name, agent, ...workspacesOf(place, git, spec.paths)], {
        timeoutMs: createTimeoutMs,
      });
      const hosts = spec.allowHosts ?? [];
      // A leading asterisk means the same to sbx, all hosts are two of them.
      const rules = hosts.map((host) => (host === '*' ? '**' : host)).join(',');
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
      held?.restore();
    },
    async stop() {
      held?.restore();
      await sbx.ask(['stop', name]);
    },
    async remove() {
      if (await find()) await sbx.must(['rm', '--force', name]);
    },
    async status() {
      const there = await find();
      return { name, state: there ? 'ready' : 'absent', detail: 'sbx ls shows more' };
    },
  };
}

/** The names in what `sbx ls --json` prints. When the daemon was not running, words stand before the JSON. */
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

import { agents } from '../agents/registry.ts';
import { isObject } from '../core/json.ts';
import { attempt } from '../os/attempt.ts';
import { findProgram, outsideEnvironment } from '../os/process/process.ts';
import { createMachine, createTimeoutMs } from './machine.ts';
import { placeOf } from './place.ts';
import type { Availability, Sandbox, SandboxSpec } from './sandbox.ts';
import { createTool, reasonOf } from './tool.ts';

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

export function createSbx(spec: SandboxSpec): Sandbox {
  const place = placeOf(spec);
  const { name } = place;
  const sbx = createTool(['sbx'], outsideEnvironment(spec.env, place.root));
  return createMachine(spec, place, {
    provider: 'sbx',
    name,
    tool: sbx,
    list: ['ls', '--json'],
    namesIn: (listing) => namesIn(listing) ?? [],
    async create(paths) {
      const agent = agents[spec.agent].sandbox.hasTemplate ? spec.agent : 'shell';
      await sbx.must(['create', '--name', name, agent, ...paths], { timeoutMs: createTimeoutMs });
      // A leading asterisk means the same to sbx, all hosts are two of them.
      const rules = (spec.allowHosts ?? []).map((host) => (host === '*' ? '**' : host)).join(',');
      if (rules !== '') await sbx.must(['policy', 'allow', 'network', '--sandbox', name, rules]);
    },
    removal: ['rm', '--force', name],
    remedy: `ralph sandbox status, or: sbx rm --force ${name}`,
    detail: 'sbx ls shows more',
  });
}

/** Returns the names in the output of `sbx ls --json`, which begins with other text if the daemon was not running. */
function namesIn(output: string): string[] | null {
  const begin = output.search(/^\s*[[{]/m);
  return begin < 0 ? null : attempt(() => namesOf(JSON.parse(output.slice(begin))), null);
}

function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesOf);
  if (!isObject(value)) return [];
  if (typeof value.name === 'string') return [value.name];
  return Object.values(value).filter(Array.isArray).flatMap(namesOf);
}

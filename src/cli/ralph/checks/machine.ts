import { atLeast } from '../../../agents/version.ts';
import type { ResolvedSettings } from '../../../config/settings-schema.ts';
import { isRalphError, messageOf } from '../../../core/error.ts';
import { freeBytes, tryWriting } from '../../../os/files/disk-space.ts';
import { clearAbandoned } from '../../../sandbox/stand-ins.ts';
import { firstLine, type HealthCheck } from './health-check.ts';
import { type Place, probe } from './probe.ts';

/** The same as `engines` in package.json. */
const minimumNode = '20.19.0';
const megabyte = 1024 ** 2;

export function checkNode(version = process.versions.node): HealthCheck {
  if (atLeast(version, minimumNode)) return { id: 'node', status: 'ok', evidence: `Node.js ${version}` };
  return {
    id: 'node',
    status: 'error',
    evidence: `Node.js ${version} is older than ${minimumNode}`,
    remedy: 'install a newer Node.js: https://nodejs.org',
  };
}

/** Room, and permission to write, in a folder that may not exist yet. */
export function checkFolder(id: string, folder: string): HealthCheck[] {
  const problem = tryWriting(folder);
  const writable: HealthCheck =
    problem === null
      ? { id: `${id}.writable`, status: 'ok', evidence: folder }
      : {
          id: `${id}.writable`,
          status: 'error',
          evidence: `nothing can be written to ${folder}: ${problem}`,
          remedy: `see whose it is: ls -ld '${folder}'`,
        };
  return [judgeSpace(`${id}.disk`, folder, freeBytes(folder)), writable];
}

export function judgeSpace(id: string, folder: string, bytes: number | null): HealthCheck {
  if (bytes === null) return { id, status: 'skipped', evidence: `the system does not tell for ${folder}` };
  const evidence = `${formatBytes(bytes)} free for ${folder}`;
  if (bytes >= 1024 * megabyte) return { id, status: 'ok', evidence };
  return {
    id,
    status: bytes < 100 * megabyte ? 'error' : 'warning',
    evidence,
    remedy: 'free some space (df -h shows where)',
  };
}

export async function checkTmux(place: Place): Promise<HealthCheck> {
  const { ok, text, failure } = await probe(['tmux', '-V'], place);
  if (ok) return { id: 'tmux', status: 'ok', evidence: firstLine(text) };
  return {
    id: 'tmux',
    status: 'warning',
    evidence: `swarm needs tmux, and it does not run: ${failure ?? firstLine(text)}`,
    remedy: 'apt-get install tmux, or brew install tmux',
  };
}

/** Whether something is there that can keep an agent away from the rest of the machine, and what was chosen is. */
export async function checkSandbox(
  { sandbox: choice = 'none', sandboxImage }: Pick<ResolvedSettings, 'sandbox' | 'sandboxImage'>,
  { cwd, env }: Place,
): Promise<HealthCheck> {
  const id = 'sandbox';
  clearAbandoned(env);
  const image = sandboxImage === undefined ? {} : { image: sandboxImage };
  const { chooseProvider, lookAtProviders } = await import('../../../sandbox/open-sandbox.ts');
  const found = await lookAtProviders({ cwd, env, ...image });
  const works = found.flatMap(([name, { ok, ...said }]) =>
    ok && 'detail' in said ? [`${name} (${said.detail})`] : [],
  );
  if (choice !== 'none') {
    try {
      const chosen = await chooseProvider(choice, { cwd, env, ...image });
      return { id, status: 'ok', evidence: `the agent runs in ${chosen}; there is ${works.join(', ')}` };
    } catch (error) {
      const remedy = (isRalphError(error) && error.remedy) || 'ralph sandbox status';
      return { id, status: 'error', evidence: messageOf(error), remedy };
    }
  }
  const not = 'the agent runs without one';
  if (works.length > 0) {
    return { id, status: 'ok', evidence: `${not}; with --sandbox there is ${works.join(', ')}` };
  }
  const why = found.flatMap(([name, said]) => (said.ok ? [] : [`${name}: ${said.why}`])).join('; ');
  return {
    id,
    status: 'warning',
    evidence: `${not}, and none works (${why})`,
    remedy: 'apt-get install bubblewrap',
  };
}

function formatBytes(bytes: number): string {
  const gigabytes = bytes / megabyte / 1024;
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.floor(bytes / megabyte)} MB`;
}

import { atLeast } from '../../../agents/version.ts';
import type { ResolvedSettings } from '../../../config/settings-schema.ts';
import { isRalphError, messageOf } from '../../../core/error.ts';
import { freeBytes, tryWriting } from '../../../os/files/disk-space.ts';
import { clearAbandoned } from '../../../sandbox/stand-ins.ts';
import { firstLine, type HealthCheck, type Place, probe, resultsOf } from './health-check.ts';

/** The same as `engines` in package.json. */
const minimumNode = '20.19.0';
const megabyte = 1024 ** 2;

export function checkNode(version = process.versions.node): HealthCheck {
  const { ok, error } = resultsOf('node');
  if (atLeast(version, minimumNode)) return ok(`Node.js ${version}`);
  const remedy = 'install a newer Node.js: https://nodejs.org';
  return error(`Node.js ${version} is older than ${minimumNode}`, remedy);
}

/** Checks disk space and the permission to write in a folder that may not exist yet. */
export function checkFolder(id: string, folder: string): HealthCheck[] {
  const { ok, error } = resultsOf(`${id}.writable`);
  const problem = tryWriting(folder);
  const evidence = `nothing can be written to ${folder}: ${problem}`;
  const writable = problem === null ? ok(folder) : error(evidence, `see whose it is: ls -ld '${folder}'`);
  return [judgeSpace(`${id}.disk`, folder, freeBytes(folder)), writable];
}

export function judgeSpace(id: string, folder: string, bytes: number | null): HealthCheck {
  const { ok, warning, error, skipped } = resultsOf(id);
  if (bytes === null) return skipped(`the system does not tell for ${folder}`);
  const evidence = `${formatBytes(bytes)} free for ${folder}`;
  if (bytes >= 1024 * megabyte) return ok(evidence);
  return (bytes < 100 * megabyte ? error : warning)(evidence, 'free some space (df -h shows where)');
}

export async function checkTmux(place: Place): Promise<HealthCheck> {
  const { ok, warning } = resultsOf('tmux');
  const answer = await probe(['tmux', '-V'], place);
  if (answer.ok) return ok(firstLine(answer.text));
  const why = answer.failure ?? firstLine(answer.text);
  const remedy = 'apt-get install tmux, or brew install tmux';
  return warning(`swarm needs tmux, and it does not run: ${why}`, remedy);
}

/** Checks that the chosen sandbox works, or tells which ones would. */
export async function checkSandbox(
  { sandbox: choice = 'none', sandboxImage }: Pick<ResolvedSettings, 'sandbox' | 'sandboxImage'>,
  { cwd, env }: Place,
): Promise<HealthCheck> {
  const { ok, warning, error } = resultsOf('sandbox');
  clearAbandoned(env);
  const place = { cwd, env, ...(sandboxImage === undefined ? {} : { image: sandboxImage }) };
  const { chooseProvider, lookAtProviders } = await import('../../../sandbox/open-sandbox.ts');
  const providers = await lookAtProviders(place);
  const working = providers.flatMap(([name, state]) => (state.ok ? [`${name} (${state.detail})`] : []));
  if (choice !== 'none') {
    try {
      const chosen = await chooseProvider(choice, place);
      return ok(`the agent runs in ${chosen}; there is ${working.join(', ')}`);
    } catch (problem) {
      const remedy = (isRalphError(problem) && problem.remedy) || 'ralph sandbox status';
      return error(messageOf(problem), remedy);
    }
  }
  if (working.length > 0) {
    return ok(`the agent runs without one; with --sandbox there is ${working.join(', ')}`);
  }
  const why = providers.flatMap(([name, state]) => (state.ok ? [] : [`${name}: ${state.why}`])).join('; ');
  return warning(`the agent runs without one, and none works (${why})`, 'apt-get install bubblewrap');
}

function formatBytes(bytes: number): string {
  const gigabytes = bytes / megabyte / 1024;
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.floor(bytes / megabyte)} MB`;
}

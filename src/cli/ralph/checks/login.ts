import type { AgentAdapter } from '../../../agents/adapter.ts';
import { agentNameOf, agents } from '../../../agents/registry.ts';
import { atLeast } from '../../../agents/version.ts';
import { tryReadText } from '../../../os/files/files.ts';
import type { HealthCheck } from './health-check.ts';
import { type Place, probe } from './probe.ts';

/** Only an explicit "logged out" is an error. */
export async function checkLogin(
  adapter: AgentAdapter,
  program: string,
  version: string | null,
  flags: readonly string[],
  place: Place,
): Promise<HealthCheck> {
  const check = { id: 'agent.login', agent: adapter.name } as const;
  const { login, loginStatus } = agents[agentNameOf(adapter.name)];
  if (loginStatus === null) {
    return {
      ...check,
      status: 'skipped',
      evidence: `${adapter.name} has no command that tells whether it is logged in`,
    };
  }
  const { words, loggedIn, loggedOut } = loginStatus;
  const asked = `${adapter.name} ${words.join(' ')}`;
  // An older one may not know the command, and take its words for a task.
  if (version === null || !atLeast(version, adapter.tested[0] ?? '0')) {
    return { ...check, status: 'skipped', evidence: `"${asked}" may not be there in this version` };
  }
  const { text, failure } = await probe([program, ...words], place);
  if (failure !== undefined) return { ...check, status: 'skipped', evidence: `${asked}: ${failure}` };
  const yes = loggedIn.exec(text)?.[0];
  if (yes !== undefined) return { ...check, status: 'ok', evidence: `${asked} says: ${yes.trim()}` };
  const no = loggedOut?.exec(text)?.[0];
  if (no === undefined) return { ...check, status: 'skipped', evidence: `${asked} does not say so clearly` };
  const other =
    loginStatus.otherWay?.({ ...place, flags, readText: (path) => tryReadText(path) ?? '' }) ?? null;
  if (other !== null) return { ...check, status: 'skipped', evidence: `${asked} says: ${no}, but ${other}` };
  return { ...check, status: 'error', evidence: `${asked} says: ${no}`, remedy: login ?? adapter.install };
}

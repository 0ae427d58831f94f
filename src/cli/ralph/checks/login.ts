import type { AgentAdapter } from '../../../agents/adapter.ts';
import { agentNameOf, agents } from '../../../agents/registry.ts';
import { atLeast } from '../../../agents/version.ts';
import { tryReadText } from '../../../os/files/files.ts';
import { type HealthCheck, resultsOf } from './health-check.ts';
import { type Place, probe } from './probe.ts';

/** Asks the agent whether it is logged in. Only an explicit "logged out" is an error. */
export async function checkLogin(
  adapter: AgentAdapter,
  program: { readonly path: string; readonly version: string | null },
  flags: readonly string[],
  place: Place,
): Promise<HealthCheck> {
  const { ok, skipped, error } = resultsOf('agent.login', adapter.name);
  const { login, loginStatus } = agents[agentNameOf(adapter.name)];
  if (loginStatus === null)
    return skipped(`${adapter.name} has no command that tells whether it is logged in`);
  const { words, loggedIn, loggedOut } = loginStatus;
  const command = `${adapter.name} ${words.join(' ')}`;
  // An older one may not know the command, and take its words for a task.
  if (program.version === null || !atLeast(program.version, adapter.tested[0] ?? '0')) {
    return skipped(`"${command}" may not be there in this version`);
  }
  const { text, failure } = await probe([program.path, ...words], place);
  if (failure !== undefined) return skipped(`${command}: ${failure}`);
  const yes = loggedIn.exec(text)?.[0];
  if (yes !== undefined) return ok(`${command} says: ${yes.trim()}`);
  const no = loggedOut?.exec(text)?.[0];
  if (no === undefined) return skipped(`${command} does not say so clearly`);
  const other = loginStatus.otherWay?.({ ...place, flags, readText: (path) => tryReadText(path) ?? '' });
  if (other) return skipped(`${command} says: ${no}, but ${other}`);
  return error(`${command} says: ${no}`, login ?? adapter.install);
}

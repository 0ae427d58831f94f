import type { AgentAdapter, Permissions } from '../../../agents/adapter.ts';
import { userAgent } from '../../../agents/custom/user-agent.ts';
import { agentNameOf, agents } from '../../../agents/registry.ts';
import { atLeast } from '../../../agents/version.ts';
import { askAgentVersion } from '../../../config/agent-version.ts';
import type { ResolvedSettings } from '../../../config/settings-schema.ts';
import { type Environment, findProgram } from '../../../os/process/process.ts';
import { firstLine, type HealthCheck, hasError } from './health-check.ts';
import { checkLogin } from './login.ts';
import type { Place } from './probe.ts';

type AgentSettings = ResolvedSettings['agent'];

/** Whether an agent is there, runs, is a version that we know, is logged in, and what it may do. */
export async function checkAgent(
  command: string,
  agent: AgentSettings,
  place: Place,
): Promise<HealthCheck[]> {
  const adapter = adapterOf(command, agent);
  const about = { agent: adapter.name };
  const permissions = checkPermissions(adapter, agent.permissions ?? 'edit', agent.flags);
  const program = findProgram(command, place.env);
  if (program === null) {
    const evidence = `"${command}" is not installed, or not on the PATH`;
    return [{ id: 'agent.found', ...about, status: 'error', evidence, remedy: adapter.install }];
  }
  const found: HealthCheck = { id: 'agent.found', ...about, status: 'ok', evidence: program };
  // Only its owner knows what it would do: any start could be a task for it.
  if (adapter.name === 'custom') return [found, permissions];
  const env = { ...place.env, ...agent.env };
  const { check: runs, version } = await checkRuns(adapter, program, env);
  if (hasError([runs])) return [found, runs, permissions];
  const login = await checkLogin(adapter, program, version, agent.flags, { ...place, env });
  return [found, runs, checkVersion(adapter, version), login, permissions];
}

/**
 * The known agents on the PATH, for somebody who has not chosen one yet: what is wrong with one of them is no error as
 * long as another is usable. One after the other, because some take a whole processor for seconds.
 */
export async function* checkInstalledAgents(
  agent: AgentSettings,
  place: Place,
): AsyncGenerator<HealthCheck[]> {
  const known = Object.keys(agents).filter((name) => name !== 'custom');
  const installed = known.filter((name) => findProgram(name, place.env) !== null);
  const usable: string[] = [];
  for (const name of installed) {
    const checks = await checkAgent(name, agent, place);
    if (!hasError(checks)) usable.push(name);
    yield checks.map((check) => (check.status === 'error' ? { ...check, status: 'warning' } : check));
  }
  yield [judgeChoice(known, installed, usable)];
}

function judgeChoice(
  known: readonly string[],
  installed: readonly string[],
  usable: readonly string[],
): HealthCheck {
  const id = 'agent.set';
  if (installed.length === 0) {
    const evidence = `none of the known agents is on the PATH: ${known.join(', ')}`;
    return { id, status: 'error', evidence, remedy: agents.claude.install };
  }
  if (usable.length === 0) {
    const evidence = `no agent is set, and what is installed cannot be used: ${installed.join(', ')}`;
    return { id, status: 'error', evidence, remedy: 'see above, then: ralph init' };
  }
  const evidence = `no agent is set; you can use ${usable.join(', ')}`;
  return { id, status: 'warning', evidence, remedy: 'ralph init' };
}

/** Really starts it, with `--version`. */
async function checkRuns(
  adapter: AgentAdapter,
  program: string,
  env: Environment,
): Promise<{ readonly check: HealthCheck; readonly version: string | null }> {
  const { version, result } = await askAgentVersion(program, env);
  const { exitCode, signal, stdout, stderr, timedOut, error } = result;
  const check = { id: 'agent.runs', agent: adapter.name } as const;
  const asked = `${adapter.name} --version`;
  if (exitCode === 0) {
    const evidence = `${asked} says: ${firstLine(stdout || stderr)}`;
    return { version, check: { ...check, status: 'ok', evidence } };
  }
  if (timedOut) {
    const evidence = `${asked} gave no answer in time; the machine may be busy`;
    return { version, check: { ...check, status: 'warning', evidence, remedy: 'ralph doctor' } };
  }
  const why = error?.message ?? `${signal ?? `exit code ${exitCode}`}, ${firstLine(stderr || stdout)}`;
  const evidence = `${asked} fails: ${why}`;
  return {
    version,
    check: { ...check, status: 'error', evidence, remedy: `install it again: ${adapter.install}` },
  };
}

export function checkVersion(adapter: AgentAdapter, version: string | null): HealthCheck {
  const check = { id: 'agent.version', agent: adapter.name } as const;
  const [oldest = '', newest = oldest] = [adapter.tested[0], adapter.tested.at(-1)];
  if (version === null) {
    return { ...check, status: 'warning', evidence: 'it tells no version', remedy: adapter.install };
  }
  const range = oldest === newest ? newest : `${oldest} to ${newest}`;
  if (!atLeast(version, oldest)) {
    const evidence = `${version} is older than what was tested (${range})`;
    return { ...check, status: 'warning', evidence, remedy: `update it: ${adapter.install}` };
  }
  if (atLeast(newest, version)) return { ...check, status: 'ok', evidence: `${version}, tested: ${range}` };
  return {
    ...check,
    status: 'warning',
    evidence: `${version} is newer than what was tested (${range})`,
    remedy: 'nothing, unless agent.events finds events that ralph does not know',
  };
}

export function checkPermissions(
  adapter: AgentAdapter,
  mode: Permissions,
  flags: readonly string[],
  asRoot = process.getuid?.() === 0,
): HealthCheck {
  const check = { id: 'agent.permissions', agent: adapter.name } as const;
  const may = adapter.permits[mode];
  const modes = Object.keys(adapter.permits);
  if (may === undefined) {
    const evidence = `${adapter.name} has no "${mode}" mode, only ${modes.join(' or ')}`;
    return { ...check, status: 'error', evidence, remedy: `set agent.permissions to ${modes.join(' or ')}` };
  }
  const unless = flags.length === 0 ? '' : ` (unless agent.flags say otherwise: ${flags.join(' ')})`;
  const evidence = `${mode}${asRoot ? ', as root' : ''}: it may ${may}${unless}`;
  if (mode !== 'full' || !asRoot) return { ...check, status: 'ok', evidence };
  const remedy = 'run as another user, or in a container that you can lose';
  return { ...check, status: 'warning', evidence, remedy };
}

/** The adapter of a command, or of an agent that the settings describe. */
export function adapterOf(command: string, { args, output }: AgentSettings): AgentAdapter {
  if (args === undefined && output === undefined) return agents[agentNameOf(command)];
  return userAgent({ args: args ?? [], output: output ?? 'text' });
}

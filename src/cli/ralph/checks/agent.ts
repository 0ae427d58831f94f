import { acpAgent, acpWordsOf } from '../../../agents/acp/agent.ts';
import { createClient } from '../../../agents/acp/client.ts';
import type { AgentAdapter, Permissions } from '../../../agents/adapter.ts';
import { userAgent } from '../../../agents/custom/user-agent.ts';
import { asRecord, parseRecord, str } from '../../../agents/json.ts';
import { agentNameOf, agents } from '../../../agents/registry.ts';
import { createTurnReader } from '../../../agents/turn.ts';
import { atLeast } from '../../../agents/version.ts';
import { askAgentVersion } from '../../../config/agent-version.ts';
import type { ResolvedSettings } from '../../../config/settings-schema.ts';
import { tryReadText } from '../../../os/files/files.ts';
import { createLineSplitter } from '../../../os/process/lines.ts';
import { type Environment, findProgram, startProcess } from '../../../os/process/process.ts';
import { firstLine, type HealthCheck, hasError, type Place, probe, resultsOf } from './health-check.ts';

type AgentSettings = ResolvedSettings['agent'];

/**
 * Checks that an agent is installed, runs, has a tested version and is logged in, and tells what it may do. Starts no
 * program by a path that a stranger chose (`isOwn` is false).
 */
export async function checkAgent(
  command: string,
  agent: AgentSettings,
  place: Place,
  isOwn = true,
): Promise<HealthCheck[]> {
  const adapter = adapterOf(command, agent);
  const { ok, error } = resultsOf('agent.found', adapter.name);
  const permissions = checkPermissions(adapter, agent.permissions ?? 'edit', agent.flags);
  const program = programOf(command, agent);
  const path = findProgram(program, place.env);
  if (path === null) return [error(`"${program}" is not installed, or not on the PATH`, adapter.install)];
  // Only its owner knows what a custom agent does: any start could be a task for it.
  if (adapter.name === 'custom') return [ok(path), permissions];
  if (!isOwn && (adapter.protocol === 'acp' || /[\\/]/.test(command))) {
    const { skipped } = resultsOf('agent.runs', adapter.name);
    return [ok(path), skipped('not tried: a file that came with this folder chose the program'), permissions];
  }
  const env = { ...place.env, ...agent.env };
  if (adapter.protocol === 'acp')
    return [ok(path), await checkAcp(adapter, path, { ...place, env }, agent.flags), permissions];
  const { check: runs, version } = await checkRuns(adapter, path, env);
  if (hasError([runs])) return [ok(path), runs, permissions];
  const login = await checkLogin(adapter, { path, version }, agent.flags, { ...place, env });
  return [ok(path), runs, checkVersion(adapter, version), login, permissions];
}

/**
 * Checks the known agents on the PATH if none is chosen: a problem with one of them is no error as long as another can
 * be used. One after the other, because some take a whole processor for seconds.
 */
export async function* checkInstalledAgents(
  agent: AgentSettings,
  place: Place,
): AsyncGenerator<HealthCheck[]> {
  const names = Object.keys(agents).filter((name) => name !== 'custom');
  const installed = names.filter((name) => findProgram(name, place.env) !== null);
  const usable: string[] = [];
  for (const name of installed) {
    const checks = await checkAgent(name, agent, place);
    if (!hasError(checks)) usable.push(name);
    yield checks.map((check) => (check.status === 'error' ? { ...check, status: 'warning' } : check));
  }
  const { warning, error } = resultsOf('agent.set');
  if (installed.length === 0) {
    yield [error(`none of the known agents is on the PATH: ${names.join(', ')}`, agents.claude.install)];
  } else if (usable.length === 0) {
    const evidence = `no agent is set, and what is installed cannot be used: ${installed.join(', ')}`;
    yield [error(evidence, 'see above, then: ralph init')];
  } else yield [warning(`no agent is set; you can use ${usable.join(', ')}`, 'ralph init')];
}

async function checkRuns(adapter: AgentAdapter, program: string, env: Environment) {
  const { ok, warning, error } = resultsOf('agent.runs', adapter.name);
  const { version, result } = await askAgentVersion(program, env);
  const { exitCode, signal, stdout, stderr, timedOut } = result;
  const command = `${adapter.name} --version`;
  if (exitCode === 0) return { version, check: ok(`${command} says: ${firstLine(stdout || stderr)}`) };
  if (timedOut) {
    const evidence = `${command} gave no answer in time; the machine may be busy`;
    return { version, check: warning(evidence, 'ralph doctor') };
  }
  const why = result.error?.message ?? `${signal ?? `exit code ${exitCode}`}, ${firstLine(stderr || stdout)}`;
  return { version, check: error(`${command} fails: ${why}`, `install it again: ${adapter.install}`) };
}

export function checkVersion(adapter: AgentAdapter, version: string | null): HealthCheck {
  const { ok, warning } = resultsOf('agent.version', adapter.name);
  const [oldest = '', newest = oldest] = [adapter.tested[0], adapter.tested.at(-1)];
  if (version === null) return warning('it tells no version', adapter.install);
  const range = oldest === newest ? newest : `${oldest} to ${newest}`;
  if (!atLeast(version, oldest)) {
    return warning(`${version} is older than what was tested (${range})`, `update it: ${adapter.install}`);
  }
  if (atLeast(newest, version)) return ok(`${version}, tested: ${range}`);
  return warning(
    `${version} is newer than what was tested (${range})`,
    'nothing, unless agent.events finds events that ralph does not know',
  );
}

const acpPrompt = 'Answer with the word "ready" and nothing else. Use no tools.';
const acpTurnMs = 60_000;

/** Proves that an agent speaks the Agent Client Protocol: `initialize` and one short turn, in which it may do nothing. */
async function checkAcp(
  adapter: AgentAdapter,
  program: string,
  { cwd, env, stop }: Place,
  flags: readonly string[],
): Promise<HealthCheck> {
  const { ok, error } = resultsOf('agent.acp', adapter.name);
  const task = { prompt: acpPrompt, permissions: 'read', flags, asRoot: false } as const;
  const command = adapter.command(task, null, 'stream');
  const client = createClient({ cwd, prompt: acpPrompt, version: __VERSION__ });
  const reader = createTurnReader(adapter);
  const say = (message: object | null) =>
    message && running.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let name = adapter.name;
  let stderr = '';
  const lines = createLineSplitter((line) => {
    const text = line.toString('utf8');
    const { id, method, result } = parseRecord(text) ?? {};
    const { name: title, version = '' } = asRecord(asRecord(result).agentInfo);
    name = str(title) === undefined ? name : `${title} ${version}`.trim();
    reader.push(text);
    if (method === undefined) say(client.next({ id, result }));
    else if (id !== undefined) say({ id, result: { outcome: { outcome: 'cancelled' } } });
    if (!reader.ended) return;
    running.finish();
    running.input.close();
  });
  const running = startProcess({
    argv: [program, ...command.args],
    cwd,
    env: { ...env, ...command.env },
    runId: `doctor-${process.pid}`,
    stdin: `${JSON.stringify({ jsonrpc: '2.0', ...client.opening })}\n`,
    keepsInput: true,
    idleMs: null,
    hardMs: acpTurnMs,
    stop,
    onStdout: lines.push,
    onStderr: (chunk) => {
      stderr = `${stderr}${chunk}`.slice(-2000);
    },
  });
  const { exitCode, cause } = await running.done;
  const { end, error: why = '' } = reader.finish({ exitCode, cause, stderrTail: stderr });
  if (end === 'finished') return ok(`${name} opened a session and answered a prompt`);
  const reason = cause === 'hard-timeout' ? `no answer within ${acpTurnMs / 1000} s` : firstLine(why) || end;
  return error(`it gave no turn by the Agent Client Protocol: ${reason}`, adapter.login ?? adapter.install);
}

/** Asks the agent whether it is logged in. Only an explicit "logged out" is an error. */
async function checkLogin(
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

export function checkPermissions(
  adapter: AgentAdapter,
  mode: Permissions,
  flags: readonly string[],
  asRoot = process.getuid?.() === 0,
): HealthCheck {
  const { ok, warning, error } = resultsOf('agent.permissions', adapter.name);
  const may = adapter.permits[mode];
  const modes = Object.keys(adapter.permits).join(' or ');
  if (may === undefined) {
    const evidence = `${adapter.name} has no "${mode}" mode that works with nobody to ask, only ${modes}`;
    return error(evidence, `--sandbox, where it may do everything, or --permissions ${modes.split(' ')[0]}`);
  }
  const unless = flags.length === 0 ? '' : ` (unless agent.flags say otherwise: ${flags.join(' ')})`;
  const evidence = `${mode}${asRoot ? ', as root' : ''}: it may ${may}${unless}`;
  if (mode !== 'full' || !asRoot) return ok(evidence);
  return warning(evidence, 'run as another user, or on a disposable machine');
}

/** The adapter of a command, or of an agent that the settings describe. */
export function adapterOf(command: string, { args, output, protocol }: AgentSettings): AgentAdapter {
  if (protocol === 'acp') return acpAgent(command, args);
  if (args === undefined && output === undefined) return agents[agentNameOf(command)];
  return userAgent({ args: args ?? [], output: output ?? 'text' });
}

/** The program of a command: some agents speak the Agent Client Protocol by another one. */
export function programOf(command: string, { args, protocol }: AgentSettings): string {
  const other = protocol === 'acp' && args === undefined ? acpWordsOf(command).program : undefined;
  return other ?? command;
}

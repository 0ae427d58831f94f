import { projectPaths, stateFolder } from '../../config/paths.ts';
import { isOfProject, isStrangers, loadSettings } from '../../config/settings.ts';
import { resolveSettings } from '../../config/settings-layers.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import { permissionsOf } from '../../config/settings-schema.ts';
import { examineTrust } from '../../config/trust/trust.ts';
import { isRalphError, messageOf } from '../../core/error.ts';
import { outcomes } from '../../core/outcome.ts';
import { plural } from '../../core/text.ts';
import { findRepository } from '../../os/git/git.ts';
import { outsideEnvironment } from '../../os/process/process.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from '../../show/terminal/style.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { checkAgent, checkInstalledAgents } from './checks/agent.ts';
import { type HealthCheck, hasError, type Place, resultsOf } from './checks/health-check.ts';
import { checkLastRun, checkUnknownEvents } from './checks/history.ts';
import { checkFolder, checkNode, checkSandbox, checkTmux } from './checks/machine.ts';
import * as project from './checks/project.ts';
import type { doctorOptions } from './options.ts';

export async function main(context: Context, { values }: Input<typeof doctorOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const examined = await readSettings(context, values.agent);
  const clean = cleaner(settingsRedactor(examined.settings, env));
  // A program that the working copy brings is never started, whatever the PATH says.
  const place = { cwd, env: outsideEnvironment(env, findRepository(cwd) ?? cwd), stop: interrupted.signal };
  const style = styleOf(context);
  const checks: HealthCheck[] = [];
  for await (const group of examine(examined, place)) {
    const results = group.map(clean);
    if (interrupted.signal.aborted) return outcomes.INTERRUPTED.exitCode;
    checks.push(...results);
    if (!values.json) stdout.write(results.map((each) => line(each, style)).join(''));
  }
  for (const signal of signals) process.off(signal, interrupt);
  const ok = !hasError(checks);
  if (values.json) writeJson(context, { v: 1, ok, checks });
  else stdout.write(`\n${summary(checks)}\n`);
  return ok ? 0 : 1;
}

/** Settings that choose what is started. */
const agentKeys = ['agent.command', 'agent.args', 'agent.flags', 'agent.protocol'] as const;

/**
 * Reads the settings, without variables of a stranger, and checks them; takes the defaults if they are wrong, so that the
 * other checks can run. `isOwnAgent` is false if a stranger's file names the agent or its words.
 */
async function readSettings({ cwd, env }: Context, agent: string | undefined) {
  const { ok, warning, error } = resultsOf('settings');
  const cli = [{ key: 'agent.command', value: agent, flag: '--agent' }] as const;
  try {
    const trust = await examineTrust(cwd, env);
    const loaded = loadSettings({ cwd, env, cli, trust: { ...trust, isTrusted: true } });
    const { files, warnings, sources } = loaded;
    const own = Object.entries(loaded.settings.agent.env).filter(
      ([name]) => !isStrangers(trust, sources[`agent.env.${name}`]),
    );
    const settings = {
      ...loaded.settings,
      agent: { ...loaded.settings.agent, env: Object.fromEntries(own) },
    };
    const evidence = files.length === 0 ? 'no settings file, so the defaults' : files.join(', ');
    const isFine = warnings.length === 0;
    const check = isFine ? ok(evidence) : warning(warnings.join('; '), 'ralph help settings');
    return {
      settings,
      ownSecret: isOfProject(loaded, 'notify.secret'),
      isOwnAgent: agentKeys.every((key) => !isStrangers(trust, sources[key])),
      checks: [check, project.checkTrust(trust)],
    };
  } catch (problem) {
    const remedy = (isRalphError(problem) && problem.remedy) || 'ralph help settings';
    const settings = resolveSettings(agent === undefined ? {} : { agent: { command: agent } }, 'defaults');
    return { settings, ownSecret: false, isOwnAgent: true, checks: [error(messageOf(problem), remedy)] };
  }
}

type Examined = Awaited<ReturnType<typeof readSettings>>;
type Results = HealthCheck | readonly HealthCheck[];

/** Starts all checks at once. Yields those of the agents last, because they take longest. */
async function* examine({ settings, ownSecret, isOwnAgent, checks: first }: Examined, place: Place) {
  const { cwd, env } = place;
  const { scm, protectedPaths, donePattern } = settings;
  const agent = { ...settings.agent, permissions: permissionsOf(settings) };
  const looks: Readonly<Record<string, () => Results | Promise<Results>>> = {
    node: () => [checkNode(), ...first],
    work: () => checkFolder('work', projectPaths(cwd).root),
    state: () => checkFolder('state', stateFolder(env)),
    git: () => project.checkSourceControl(scm, place),
    guardrails: () => project.checkCommands(settings, place),
    'protected-paths': () => project.checkProtectedPaths(protectedPaths, cwd),
    'done-pattern': () => project.checkDonePattern(donePattern),
    notify: () => project.checkNotify(settings, place, ownSecret),
    'last-run': () => checkLastRun(cwd),
    tmux: () => checkTmux(place),
    sandbox: () => checkSandbox(settings, place),
    'agent.events': () => checkUnknownEvents(cwd),
  };
  const { command } = agent;
  const own =
    command === undefined ? null : settle('agent', () => checkAgent(command, agent, place, isOwnAgent));
  for (const group of Object.entries(looks).map(([id, look]) => settle(id, look))) yield await group;
  if (own === null) yield* checkInstalledAgents(agent, place);
  else yield await own;
}

/** Runs a check; one that throws is an error. */
async function settle(id: string, look: () => Results | Promise<Results>): Promise<HealthCheck[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    return [resultsOf(id).error(messageOf(error))];
  }
}

/** Removes secrets and control sequences: the results go to a terminal and into bug reports. */
function cleaner(redactor: Redactor): (check: HealthCheck) => HealthCheck {
  const clean = (text: string) => redactor.text(cleanTerminal(text)).replace(/\s+/g, ' ').trim();
  return (check) => ({
    ...check,
    evidence: clean(check.evidence),
    ...(check.remedy === undefined ? {} : { remedy: clean(check.remedy) }),
  });
}

const idWidth = 17;

function line({ id, agent, status, evidence, remedy }: HealthCheck, style: Style): string {
  const mark = { ok: 'pass', warning: 'warn', error: 'fail', skipped: 'pending' } as const;
  const symbol = style.symbol(mark[status]).padEnd(style.emoji ? 0 : 6);
  const about = agent === undefined || evidence.startsWith(`${agent} `) ? '' : `${agent}: `;
  const text = `${symbol} ${id.padEnd(idWidth)}  ${about}${evidence}\n`;
  if (remedy === undefined) return text;
  return `${text}${' '.repeat((style.emoji ? 2 : 6) + 1 + idWidth + 2)}try: ${remedy}\n`;
}

function summary(checks: readonly HealthCheck[]): string {
  const count = (status: 'error' | 'warning') =>
    plural(checks.filter((check) => check.status === status).length, status);
  return `${count('error')}, ${count('warning')} in ${checks.length} checks`;
}

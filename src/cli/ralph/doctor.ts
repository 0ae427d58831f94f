import { projectPaths, stateFolder } from '../../config/paths.ts';
import { secretSettings } from '../../config/secret-settings.ts';
import { isOfProject, loadSettings } from '../../config/settings.ts';
import { resolveSettings } from '../../config/settings-layers.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { isRalphError, messageOf } from '../../core/error.ts';
import { outcomes } from '../../core/outcome.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { createStyle, type Style } from '../../show/terminal/style.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { checkAgent, checkInstalledAgents } from './checks/agent.ts';
import { type HealthCheck, hasError } from './checks/health-check.ts';
import { checkLastRun, checkUnknownEvents } from './checks/history.ts';
import { checkFolder, checkNode, checkSandbox, checkTmux } from './checks/machine.ts';
import type { Place } from './checks/probe.ts';
import {
  checkCommands,
  checkDonePattern,
  checkNotify,
  checkProtectedPaths,
  checkSourceControl,
} from './checks/project.ts';
import type { doctorOptions } from './options.ts';

export async function main(context: Context, { values }: Input<typeof doctorOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const examined = readSettings(context, values.agent);
  const clean = cleaner({ ...env, ...secretSettings(examined.settings) });
  const style = createStyle({ env, isTTY: stdout.isTTY });
  const checks: HealthCheck[] = [];
  for await (const group of examine(examined, { cwd, env, stop: interrupted.signal })) {
    const found = group.map(clean);
    if (interrupted.signal.aborted) return outcomes.INTERRUPTED.exitCode;
    checks.push(...found);
    if (!values.json) stdout.write(found.map((each) => line(each, style)).join(''));
  }
  for (const signal of signals) process.off(signal, interrupt);
  const ok = !hasError(checks);
  stdout.write(values.json ? `${JSON.stringify({ v: 1, ok, checks }, null, 2)}\n` : `\n${summary(checks)}\n`);
  return ok ? 0 : 1;
}

/** The settings, or the defaults where they are wrong, so that the rest can be looked at all the same. */
function readSettings({ cwd, env }: Context, agent: string | undefined): Examined {
  const id = 'settings';
  const cli = [{ key: 'agent.command', value: agent, flag: '--agent' }] as const;
  try {
    const loaded = loadSettings({ cwd, env, cli });
    const { settings, files, warnings } = loaded;
    const ownSecret = isOfProject(loaded, 'notify.secret');
    if (warnings.length > 0) {
      const remedy = 'ralph help settings';
      return { settings, ownSecret, check: { id, status: 'warning', evidence: warnings.join('; '), remedy } };
    }
    const evidence = files.length === 0 ? 'no settings file, so the defaults' : files.join(', ');
    return { settings, ownSecret, check: { id, status: 'ok', evidence } };
  } catch (error) {
    const remedy = (isRalphError(error) && error.remedy) || 'ralph help settings';
    const settings = resolveSettings(agent === undefined ? {} : { agent: { command: agent } }, 'defaults');
    return { settings, ownSecret: false, check: { id, status: 'error', evidence: messageOf(error), remedy } };
  }
}

/** The settings, and what there is to say of them. */
type Examined = {
  readonly settings: ResolvedSettings;
  readonly ownSecret: boolean;
  readonly check: HealthCheck;
};

type Found = HealthCheck | readonly HealthCheck[];

/** Starts all checks at once, and gives those of the agents last, which take longest. */
async function* examine(
  { settings, ownSecret, check: first }: Examined,
  place: Place,
): AsyncGenerator<HealthCheck[]> {
  const { cwd, env } = place;
  const { agent, scm, protectedPaths, donePattern } = settings;
  const looks: Readonly<Record<string, () => Found | Promise<Found>>> = {
    node: () => [checkNode(), first],
    work: () => checkFolder('work', projectPaths(cwd).root),
    state: () => checkFolder('state', stateFolder(env)),
    git: () => checkSourceControl(scm, place),
    guardrails: () => checkCommands(settings, place),
    'protected-paths': () => checkProtectedPaths(protectedPaths, cwd),
    'done-pattern': () => checkDonePattern(donePattern),
    notify: () => checkNotify(settings.notify, env, ownSecret),
    'last-run': () => checkLastRun(cwd),
    tmux: () => checkTmux(place),
    sandbox: () => checkSandbox(settings, place),
    'agent.events': () => checkUnknownEvents(cwd),
  };
  const { command } = agent;
  const chosen = command === undefined ? null : settle('agent', () => checkAgent(command, agent, place));
  for (const group of Object.entries(looks).map(([id, look]) => settle(id, look))) yield await group;
  if (chosen === null) yield* checkInstalledAgents(agent, place);
  else yield await chosen;
}

/** A check that cannot be made is a failed one, and does not take the others with it. */
async function settle(id: string, look: () => Found | Promise<Found>): Promise<HealthCheck[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    return [{ id, status: 'error', evidence: messageOf(error) }];
  }
}

/** What other programs said goes to a terminal and into bug reports. */
function cleaner(env: Context['env']): (check: HealthCheck) => HealthCheck {
  const redactor = createRedactor(env);
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
  const count = (status: HealthCheck['status'], word: string) => {
    const number = checks.filter((check) => check.status === status).length;
    return `${number} ${word}${number === 1 ? '' : 's'}`;
  };
  return `${count('error', 'error')}, ${count('warning', 'warning')} in ${checks.length} checks`;
}

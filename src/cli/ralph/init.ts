import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type DetectedProject, detectProject } from '../../config/detect.ts';
import { readProjectSettings } from '../../config/settings.ts';
import { projectFile, resolveSettings } from '../../config/settings-layers.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import type { SettingsFile } from '../../config/settings-schema.ts';
import { keepOwnFile } from '../../config/trust/trust.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import { outcomes } from '../../core/outcome.ts';
import { ensureDir, writeAtomic } from '../../os/files/files.ts';
import { findProgram } from '../../os/process/program.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { isInsideLoop } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { initFlow, newSettings, proposedChecks } from './init-flow.ts';
import type { initOptions } from './options.ts';
import { Interrupted, pipedTalk, terminalTalk } from './talk.ts';

const firstLineMs = 3000;

export function main(context: Context, { values }: Input<typeof initOptions>) {
  return values.yes ? writeDetected(context) : askAndWrite(context);
}

async function askAndWrite(context: Context): Promise<number> {
  const { cwd, env, stdin } = context;
  if (!stdin.isTTY) await waitForInput(stdin);
  const talk = stdin.isTTY ? terminalTalk(context) : pipedTalk(context);
  const findings = {
    existing: describeExisting(context),
    project: stdin.isTTY ? detectProject(cwd, env) : null,
    isInstalled: (command: string) => findProgram(command, env) !== null,
  };
  try {
    const settings = await initFlow(talk, findings).finally(talk.close);
    if (settings !== null) writeSettings(context, settings);
    return 0;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    context.stderr.write('\nInterrupted: nothing was written.\n');
    return outcomes.INTERRUPTED.exitCode;
  }
}

/** Fails unless a pipe has answers: without them and without a terminal nobody could be asked. */
async function waitForInput(stdin: Context['stdin']): Promise<void> {
  const signal = AbortSignal.timeout(firstLineMs);
  await Promise.race([once(stdin, 'readable', { signal }), once(stdin, 'end', { signal })]).catch(() => {});
  if (stdin.readableLength > 0) return;
  stdin.destroy();
  const message = 'ralph init asks questions, but standard input is not a terminal';
  throw new RalphError('not-a-terminal', message, { remedy: 'ralph init --yes' });
}

function writeDetected(context: Context): void {
  if (describeExisting(context) !== null) {
    context.stderr.write(`${projectFile} is there already and stays as it is; ralph init can replace it\n`);
    return;
  }
  const project = detectProject(context.cwd, context.env);
  const settings = settingsFor(project);
  context.stdout.write(`${describeProject(project)}\n${JSON.stringify(settings, null, 2)}\n`);
  writeSettings(context, settings);
}

/** The present settings as text, or what is wrong with them; null without any. */
function describeExisting({ cwd, env }: Context): string | null {
  try {
    const existing = readProjectSettings(cwd);
    if (existing === null) return null;
    const overlay = existing.local ? ' (with local overlay from settings.local.json)' : '';
    const redactor = settingsRedactor(resolveSettings(existing.value, projectFile), env);
    const text = cleanTerminal(redactor.text(JSON.stringify(existing.value, null, 2)));
    return `${text}\nLoaded from ${projectFile}${overlay}`;
  } catch (error) {
    return messageOf(error);
  }
}

function settingsFor(project: DetectedProject): SettingsFile {
  const [command] = project.agents;
  if (command === undefined) {
    const message = 'none of the agents that ralph knows is on the PATH, and --yes cannot ask for another';
    throw new RalphError('no-agent', message, { remedy: 'ralph init' });
  }
  return newSettings({ agent: { command, flags: [] }, ...proposedChecks(project) });
}

function describeProject({ agents, checks, configuration }: DetectedProject): string {
  const line = (kind: string, command: string, from: string) => `  ${kind.padEnd(10)}${command} (${from})`;
  const lines = [
    ...agents.map((agent) => line('agent', agent, 'PATH')),
    ...checks.map(({ kind, command, from, missing }) =>
      line(kind, command, missing === undefined ? from : `${from}; ${missing} is not installed here`),
    ),
    ...configuration.map((path) => line('protected', path, 'configuration of checks')),
  ];
  return ['Found', ...lines, ''].join('\n');
}

function writeSettings({ cwd, env, stdout }: Context, settings: SettingsFile): void {
  const path = join(cwd, projectFile);
  ensureDir(dirname(path), 0o755);
  writeAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o644, root: cwd });
  if (!isInsideLoop(env)) keepOwnFile(env, cwd, projectFile);
  stdout.write(`\nSettings written to ${projectFile}\nNext: ralph run -p "your task"\n`);
}

import { dirname, join } from 'node:path';
import { type DetectedProject, detectProject } from '../../config/detect.ts';
import { readProjectSettings } from '../../config/settings.ts';
import { projectFile } from '../../config/settings-layers.ts';
import type { SettingsFile } from '../../config/settings-schema.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import { ensureDir, writeAtomic } from '../../os/files/files.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { initFlow, newSettings } from './init-flow.ts';
import type { initOptions } from './options.ts';
import { settingsRedactor } from './settings-redactor.ts';
import { terminalTalk } from './talk.ts';

export function main(context: Context, { values }: Input<typeof initOptions>): Promise<number> | number {
  return values.yes ? writeDetected(context) : askAndWrite(context);
}

async function askAndWrite(context: Context): Promise<number> {
  if (!context.stdin.isTTY) {
    const message = 'ralph init asks questions, but standard input is not a terminal';
    throw new RalphError('not-a-terminal', message, { remedy: 'ralph init --yes' });
  }
  const talk = terminalTalk(context);
  const answer = await initFlow(talk, describeExisting(context)).finally(talk.close);
  switch (answer.kind) {
    case 'kept':
      return 0;
    case 'interrupted':
      context.stderr.write('\nInterrupted: nothing was written.\n');
      return 130;
    case 'settings':
      writeSettings(context, answer.settings);
      return 0;
  }
}

function writeDetected(context: Context): number {
  if (describeExisting(context) !== null) {
    context.stderr.write(`${projectFile} is there already and stays as it is; ralph init can replace it\n`);
    return 0;
  }
  const project = detectProject(context.cwd, context.env);
  const settings = settingsFor(project);
  context.stdout.write(`${describeProject(project)}\n${JSON.stringify(settings, null, 2)}\n`);
  writeSettings(context, settings);
  context.stdout.write('Next: ralph run -p "your task"\n');
  return 0;
}

/** The present settings as text, or what is wrong with them; null without any. */
function describeExisting({ cwd, env }: Context): string | null {
  try {
    const existing = readProjectSettings(cwd);
    if (existing === null) return null;
    const overlay = existing.local ? ' (with local overlay from settings.local.json)' : '';
    const redact = settingsRedactor(existing.value, env);
    const text = cleanTerminal(redact(JSON.stringify(existing.value, null, 2)));
    return `${text}\nLoaded from ${projectFile}${overlay}`;
  } catch (error) {
    return messageOf(error);
  }
}

function settingsFor({ agents, checks, configuration }: DetectedProject): SettingsFile {
  const [command] = agents;
  if (command === undefined) {
    const message = 'none of the agents that ralph knows is on the PATH, and --yes cannot ask for another';
    throw new RalphError('no-agent', message, { remedy: 'ralph init' });
  }
  const quick = checks.filter(({ kind }) => kind !== 'build');
  const commands = (quick.length > 0 ? quick : checks).map((check) => check.command);
  const guardrails = commands.map((one) => ({ command: one, failAction: 'APPEND' }));
  const protectedPaths = configuration.length === 0 ? {} : { protectedPaths: [...configuration] };
  return newSettings({ agent: { command, flags: [] }, guardrails, ...protectedPaths });
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

function writeSettings({ cwd, stdout }: Context, settings: SettingsFile): void {
  const path = join(cwd, projectFile);
  ensureDir(dirname(path), 0o755);
  writeAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o644, root: cwd });
  stdout.write(`\nSettings written to ${projectFile}\n`);
}

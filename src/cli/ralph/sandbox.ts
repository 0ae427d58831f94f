import { loadSettings } from '../../config/settings.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { RalphError } from '../../core/error.ts';
import { quoteWord } from '../../core/words.ts';
import { exitCodeOf } from '../../os/process/exit-code.ts';
import { type Argv, findProgram } from '../../os/process/process.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { createSandbox, lookAtProviders, openSandbox } from '../../sandbox/open-sandbox.ts';
import {
  type DeniedHost,
  providerNames,
  type SandboxChoice,
  type SandboxSpec,
} from '../../sandbox/sandbox.ts';
import { clearAbandoned } from '../../sandbox/stand-ins.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { jsonOptions, sandboxExecOptions, sandboxOptions } from './options.ts';
import { sandboxSpec } from './sandbox-spec.ts';

/** What there is on this machine, and what is kept for this project. */
export async function status(context: Context, { values }: Input<typeof jsonOptions>): Promise<number> {
  clearAbandoned(context.env);
  const { settings, spec } = read(context, {});
  const providers = await Promise.all(
    (await lookAtProviders(spec)).map(async ([name, found]) => {
      const kept = found.ok ? await createSandbox(name, spec).status() : null;
      return { provider: name, ...found, ...(kept === null ? {} : { sandbox: kept }) };
    }),
  );
  const chosen = settings.sandbox ?? 'none';
  if (values.json) {
    context.stdout.write(`${JSON.stringify({ v: 1, setting: chosen, providers }, null, 2)}\n`);
    return 0;
  }
  for (const each of providers) {
    const said = each.ok ? `works: ${each.detail}` : `no: ${each.why}`;
    context.stdout.write(`${each.provider.padEnd(15)} ${cleanTerminal(said)}\n`);
    const remedy = each.ok ? undefined : each.remedy;
    if (remedy !== undefined) context.stdout.write(`${' '.repeat(15)} try: ${cleanTerminal(remedy)}\n`);
    const kept = each.sandbox;
    if (kept === undefined || kept.state === 'absent') continue;
    context.stdout.write(`${' '.repeat(15)} ${kept.name}: ${kept.state}, ${cleanTerminal(kept.detail)}\n`);
  }
  const now =
    chosen === 'none' ? 'without a sandbox (--sandbox, or sandbox in the settings)' : `in: ${chosen}`;
  context.stdout.write(`\nThe agent here runs ${now}\n`);
  return 0;
}

/** A shell where the agent would be. */
export async function shell(context: Context, { values }: Input<typeof sandboxExecOptions>): Promise<number> {
  return runInside(context, values, [context.env.SHELL || '/bin/sh']);
}

/** Any command where the agent would be. */
export async function exec(
  context: Context,
  { values, args }: Input<typeof sandboxExecOptions>,
): Promise<number> {
  const [program = '', ...words] = args;
  return runInside(context, values, [program, ...words]);
}

async function runInside(
  context: Context,
  values: Input<typeof sandboxExecOptions>['values'],
  argv: Argv,
): Promise<number> {
  const { spec, choice } = read(context, values);
  const denied = ({ host, port, because }: DeniedHost) =>
    void context.stderr.write(cleanTerminal(`sandbox: ${host}:${port} ${because}\n`));
  const found = findProgram(argv[0], context.env);
  const program = found === null ? {} : { program: found };
  const sandbox = await openSandbox(choice, { ...program, ...spec, denied });
  try {
    const onTerminal = context.stdin.isTTY && sandbox.provider === 'bwrap';
    const command = onTerminal ? ownTerminal(argv, context) : argv;
    const wrapped = sandbox.wrap(command, { ...context.env, ...spec.env }, context.cwd);
    const end = await runInForeground(wrapped.argv, { cwd: context.cwd, env: wrapped.env });
    if (end.error) throw new RalphError('sandbox-failed', `the sandbox did not start: ${end.error.message}`);
    return exitCodeOf(end) ?? 1;
  } finally {
    await sandbox.stop();
  }
}

/** The sandbox is a session of its own, so that nothing inside can type on this terminal; `script` makes it another. */
function ownTerminal(argv: Argv, { env }: Context): Argv {
  if (findProgram('script', env) === null) return argv;
  const line = argv.map(quoteWord).join(' ');
  return ['script', '-qec', line, '/dev/null'];
}

/** Takes away what is kept for this project. */
export async function rm(context: Context, { values }: Input<typeof sandboxOptions>): Promise<number> {
  const { spec } = read(context, values);
  const wanted = values.provider;
  const removed: string[] = [];
  for (const [name, found] of await lookAtProviders(spec)) {
    // What bubblewrap leaves is a folder, which can be removed without it.
    if ((!found.ok && name !== 'bwrap') || (wanted !== undefined && wanted !== name)) continue;
    const sandbox = createSandbox(name, spec);
    if ((await sandbox.status()).state === 'absent') continue;
    await sandbox.remove();
    removed.push(`${name} ${sandbox.name}`);
  }
  context.stdout.write(
    removed.length === 0 ? 'there is no sandbox of this project\n' : `removed ${removed.join(', ')}\n`,
  );
  return 0;
}

type Read = {
  readonly settings: ResolvedSettings;
  readonly spec: SandboxSpec;
  readonly choice: SandboxChoice;
};

/** From the settings, and what was typed over them. */
function read(context: Context, values: Input<typeof sandboxExecOptions>['values']): Read {
  const { settings } = loadSettings({ cwd: context.cwd, env: context.env });
  const command = values.agent ?? settings.agent.command ?? 'custom';
  const program = findProgram(command, context.env);
  const spec = sandboxSpec(context, settings, { command, ...(program === null ? {} : { program }) });
  const allowHosts = [...settings.allowHosts, ...(values['allow-host'] ?? [])];
  const typed = providerNames.find((name) => name === values.provider);
  const set = settings.sandbox === 'none' ? undefined : settings.sandbox;
  return { settings, spec: { ...spec, allowHosts }, choice: typed ?? set ?? 'auto' };
}

import { loadSettings } from '../../config/settings.ts';
import { examineTrust } from '../../config/trust/trust.ts';
import { RalphError } from '../../core/error.ts';
import { quoteWord } from '../../core/words.ts';
import { exitCodeOf } from '../../os/process/exit-code.ts';
import { type Argv, findProgram } from '../../os/process/process.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { createSandbox, lookAtProviders, openSandbox } from '../../sandbox/open-sandbox.ts';
import { type DeniedHost, providerNames } from '../../sandbox/sandbox.ts';
import { clearAbandoned } from '../../sandbox/stand-ins.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { jsonOptions, sandboxExecOptions, sandboxOptions } from './options.ts';
import { sandboxSpec } from './sandbox-spec.ts';

/** Shows which sandboxes work on this machine, and what is kept for this project. */
export async function status(context: Context, { values }: Input<typeof jsonOptions>): Promise<void> {
  const { stdout } = context;
  clearAbandoned(context.env);
  const { settings, spec } = await readSpec(context, {});
  const providers = await Promise.all(
    (await lookAtProviders(spec)).map(async ([provider, state]) => {
      const sandbox = state.ok ? { sandbox: await createSandbox(provider, spec).status() } : {};
      return { provider, ...state, ...sandbox };
    }),
  );
  const { sandbox: setting = 'none' } = settings;
  if (values.json) return writeJson(context, { v: 1, setting, providers });
  const write = (title: string, text: string) => stdout.write(`${title.padEnd(15)} ${cleanTerminal(text)}\n`);
  for (const each of providers) {
    write(each.provider, each.ok ? `works: ${each.detail}` : `no: ${each.why}`);
    if (!each.ok && each.remedy !== undefined) write('', `try: ${each.remedy}`);
    const { sandbox } = each;
    if (sandbox && sandbox.state !== 'absent')
      write('', `${sandbox.name}: ${sandbox.state}, ${sandbox.detail}`);
  }
  const prd = settings.sandbox === undefined ? '; ralph prd run takes the first that works' : '';
  const without = `without a sandbox (--sandbox, or sandbox in the settings)${prd}`;
  stdout.write(`\nThe agent here runs ${setting === 'none' ? without : `in: ${setting}`}\n`);
}

/** Opens a shell where the agent would run. */
export function shell(context: Context, { values }: Input<typeof sandboxExecOptions>): Promise<number> {
  return runInside(context, values, [context.env.SHELL || '/bin/sh']);
}

/** Runs a command where the agent would run. */
export function exec(context: Context, { values, args }: Input<typeof sandboxExecOptions>): Promise<number> {
  const [program = '', ...words] = args;
  return runInside(context, values, [program, ...words]);
}

async function runInside(context: Context, values: Input<typeof sandboxExecOptions>['values'], argv: Argv) {
  const { cwd, env } = context;
  const { settings, spec, choice } = await readSpec(context, values);
  const denied = ({ host, port, because }: DeniedHost) =>
    context.stderr.write(cleanTerminal(`sandbox: ${host}:${port} ${because}\n`));
  const notice = (text: string) => context.stderr.write(cleanTerminal(`sandbox: ${text}\n`));
  const path = findProgram(argv[0], env);
  const program = path === null ? {} : { program: path };
  const sandbox = await openSandbox(choice, { ...program, ...spec, denied, notice });
  try {
    const isOwnTerminal = context.stdin.isTTY && sandbox.provider === 'bwrap';
    const command = isOwnTerminal ? ownTerminal(argv, context) : argv;
    const wrapped = sandbox.wrap(command, env, cwd, settings.agent.env);
    const end = await runInForeground(wrapped.argv, { cwd, env: wrapped.env });
    if (end.error) throw new RalphError('sandbox-failed', `the sandbox did not start: ${end.error.message}`);
    return exitCodeOf(end) ?? 1;
  } finally {
    await sandbox.stop();
  }
}

/** Gives the sandbox a terminal of its own by `script`, so that nothing inside can type on this one. */
function ownTerminal(argv: Argv, { env }: Context): Argv {
  if (findProgram('script', env) === null) return argv;
  const line = argv.map(quoteWord).join(' ');
  return ['script', '-qec', line, '/dev/null'];
}

/** Removes what is kept for this project. */
export async function rm(context: Context, { values }: Input<typeof sandboxOptions>): Promise<void> {
  const { spec } = await readSpec(context, values);
  const names: string[] = [];
  for (const [name, { ok }] of await lookAtProviders(spec)) {
    // What bubblewrap leaves is a folder, which can be removed without it.
    if ((!ok && name !== 'bwrap') || (values.provider ?? name) !== name) continue;
    const sandbox = createSandbox(name, spec);
    if ((await sandbox.status()).state === 'absent') continue;
    await sandbox.remove();
    names.push(`${name} ${sandbox.name}`);
  }
  const text = names.length === 0 ? 'there is no sandbox of this project' : `removed ${names.join(', ')}`;
  context.stdout.write(`${text}\n`);
}

/** The sandbox of the settings, and of the options over them. */
async function readSpec(context: Context, values: Input<typeof sandboxExecOptions>['values']) {
  const { cwd, env } = context;
  const { settings, warnings } = loadSettings({ cwd, env, trust: await examineTrust(cwd, env) });
  for (const warning of warnings) context.stderr.write(`warning: ${warning}\n`);
  const command = values.agent ?? settings.agent.command ?? 'custom';
  const program = findProgram(command, context.env);
  const spec = sandboxSpec(context, settings, { command, ...(program === null ? {} : { program }) });
  const allowHosts = [...settings.allowHosts, ...(values['allow-host'] ?? [])];
  const provider = providerNames.find((name) => name === values.provider);
  const preset = settings.sandbox === 'none' ? undefined : settings.sandbox;
  return { settings, spec: { ...spec, allowHosts }, choice: provider ?? preset ?? 'auto' };
}

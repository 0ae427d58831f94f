import { GuardError, runCommand } from 'ralphkit-guard/command';
import { RalphError } from '../../core/error.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { guardCheckOptions } from '../ralph/options.ts';

type GuardInput = Input<typeof guardCheckOptions>;

export function check(context: Context, input: GuardInput): Promise<number> {
  return run('check', context, input);
}

export function explain(context: Context, input: GuardInput): Promise<number> {
  return run('explain', context, input);
}

export function test(context: Context, input: GuardInput): Promise<number> {
  return run('test', context, input);
}

/** Passes the words on to the command of the guard; all of its options are switches. */
async function run(action: string, context: Context, { values, args }: GuardInput): Promise<number> {
  const switches = Object.entries(values).flatMap(([name, on]) => (on ? [`--${name}`] : []));
  const { cwd, env, stdout } = context;
  const place = { program: 'ralph guard', cwd, env, write: (text: string) => stdout.write(text) };
  try {
    return await runCommand([action, ...switches, '--', ...args], place);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw new RalphError(error.code, error.message, { remedy: error.remedy, cause: error });
  }
}

import { GuardError, runCommand } from 'ralphkit-guard/command';
import { RalphError } from '../../core/error.ts';
import { ownsRules } from '../../drive/session/guard/duty.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { guardCheckOptions } from '../ralph/options.ts';

type GuardInput = Input<typeof guardCheckOptions>;

/** Makes a command of `ralph guard`: passes the words on to the guard, whose options are all switches. */
export function guardCommand(action: 'check' | 'explain' | 'test') {
  return { main: (context: Context, input: GuardInput) => run(action, context, input) };
}

async function run(action: string, context: Context, { values, args }: GuardInput): Promise<number> {
  const switches = Object.entries(values).flatMap(([name, on]) => (on ? [`--${name}`] : []));
  const { cwd, env, stdout } = context;
  try {
    const allowRules = await ownsRules(cwd, env);
    const place = {
      program: 'ralph guard',
      cwd,
      env,
      allowRules,
      write: (text: string) => stdout.write(text),
    };
    return await runCommand([action, ...switches, '--', ...args], place);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw new RalphError(error.code, error.message, { remedy: error.remedy, cause: error });
  }
}

import type { Environment } from '../../../os/process/program.ts';
import { keepDenial } from '../../session/guard/denials.ts';
import { denialOf, guardText, judgeCall } from '../../session/guard/hook.ts';
import type { PluginHooks } from './types.ts';

/** Creates the hook that judges tool calls. It throws to deny a call, and the model reads why. */
export function toolGuard(
  cwd: string,
  env: Environment,
  now: () => number,
): NonNullable<PluginHooks['tool.execute.before']> {
  return async ({ tool, sessionID }, { args }) => {
    const verdict = await judgeCall(tool, args, { env, cwd, sessionId: sessionID });
    const denial = verdict && denialOf(verdict, tool, args);
    if (!verdict || !denial) return;
    try {
      keepDenial(denial, sessionID, env, now);
    } catch {
      // Refuses the call even if the record cannot be written.
    }
    throw new Error(guardText(verdict));
  };
}

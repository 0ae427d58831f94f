import { keepDenial } from '../../../safety/guard/denials.ts';
import { denialOf, guardText, judgeCall } from '../../../safety/guard/hook.ts';
import type { Environment } from '../../../system/program.ts';
import type { PluginHooks } from './types.ts';

/** The guard of tool calls: what it throws refuses the call, and the model reads why. */
export function toolGuard(
  cwd: string,
  env: Environment,
  now: () => number,
): NonNullable<PluginHooks['tool.execute.before']> {
  return async ({ tool, sessionID }, { args }) => {
    const finding = judgeCall(tool, args, { env, cwd, sessionId: sessionID });
    const denial = finding && denialOf(finding, tool, args);
    if (!finding || !denial) return;
    try {
      keepDenial(denial, sessionID, env, now);
    } catch {
      // The refusal holds, whether or not it can be written down.
    }
    throw new Error(guardText(finding));
  };
}

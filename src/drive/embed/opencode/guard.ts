import type { Environment } from '../../../os/process/program.ts';
import { keepDenial } from '../../session/guard/denials.ts';
import { judgeCall } from '../../session/guard/hook.ts';
import type { PluginHooks } from './types.ts';

/** Creates the hook that judges tool calls. It throws to deny a call, and the model reads why. */
export function toolGuard(
  cwd: string,
  env: Environment,
  now: () => number,
): NonNullable<PluginHooks['tool.execute.before']> {
  return async ({ tool, sessionID }, { args }) => {
    const judgement = await judgeCall(tool, args, { env, cwd, sessionId: sessionID });
    if (!judgement?.denial) return;
    try {
      keepDenial(judgement.denial, sessionID, env, now);
    } catch {
      // Refuses the call even if the record cannot be written.
    }
    throw new Error(judgement.text);
  };
}

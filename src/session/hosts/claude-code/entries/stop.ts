import { runHook } from '../../../hook/run.ts';
import { stopHook } from '../../../hook/stop.ts';
import { claudeCode } from '../host.ts';

/** Whether the hook had anything to say. */
export const worked = runHook(claudeCode, stopHook, __dirname);

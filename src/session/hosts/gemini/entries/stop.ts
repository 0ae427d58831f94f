import { runHook } from '../../../hook/run.ts';
import { stopHook } from '../../../hook/stop.ts';
import { gemini } from '../host.ts';

/** Whether the hook had anything to say. */
export const worked = runHook(gemini, stopHook, __dirname);

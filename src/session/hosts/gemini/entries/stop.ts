import { runHook } from '../../../hook/run.ts';
import { stopHook } from '../../../hook/stop.ts';
import { gemini } from '../host.ts';

void runHook(gemini, stopHook, __dirname);

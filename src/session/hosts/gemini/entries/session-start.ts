import { runHook } from '../../../hook/run.ts';
import { sessionStartHook } from '../../../hook/session-start.ts';
import { gemini } from '../host.ts';

void runHook(gemini, sessionStartHook, __dirname);

import { runHook } from '../hook.ts';
import { sessionStartHook } from '../session-start.ts';

void runHook(sessionStartHook, __dirname);

import { runHook } from '../run.ts';
import { sessionStartHook } from '../session-start.ts';

void runHook(sessionStartHook);

import { runHook } from '../../../hook/run.ts';
import { sessionStartHook } from '../../../hook/session-start.ts';
import { claudeCode } from '../host.ts';

void runHook(claudeCode, sessionStartHook, __dirname);

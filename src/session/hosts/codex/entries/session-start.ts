import { runHook } from '../../../hook/run.ts';
import { sessionStartHook } from '../../../hook/session-start.ts';
import { codex } from '../host.ts';

void runHook(codex, sessionStartHook, __dirname);

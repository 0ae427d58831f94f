import { runHook } from '../../../hook/run.ts';
import { stopHook } from '../../../hook/stop.ts';
import { codex } from '../host.ts';

void runHook(codex, stopHook, __dirname);

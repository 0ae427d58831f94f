import { runHook } from '../../../hook/run.ts';
import { stopHook } from '../../../hook/stop.ts';
import { claudeCode } from '../host.ts';

void runHook(claudeCode, stopHook, __dirname);

import { interruptHook } from '../../../hook/interrupt.ts';
import { runHook } from '../../../hook/run.ts';
import { codex } from '../host.ts';

void runHook(codex, interruptHook, __dirname);

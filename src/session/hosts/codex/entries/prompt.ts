import { promptHook } from '../../../hook/prompt.ts';
import { runHook } from '../../../hook/run.ts';
import { codex } from '../host.ts';

void runHook(codex, promptHook, __dirname);

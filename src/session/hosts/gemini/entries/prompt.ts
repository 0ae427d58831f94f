import { promptHook } from '../../../hook/prompt.ts';
import { runHook } from '../../../hook/run.ts';
import { gemini } from '../host.ts';

void runHook(gemini, promptHook, __dirname);

import { promptHook } from '../../../hook/prompt.ts';
import { runHook } from '../../../hook/run.ts';
import { claudeCode } from '../host.ts';

void runHook(claudeCode, promptHook, __dirname);

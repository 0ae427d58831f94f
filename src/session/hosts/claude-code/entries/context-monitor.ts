import { contextHook } from '../../../hook/context.ts';
import { runHook } from '../../../hook/run.ts';
import { claudeCode } from '../host.ts';

void runHook(claudeCode, contextHook, __dirname);

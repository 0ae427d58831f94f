import { runHook } from '../hook.ts';
import { promptHook } from '../prompt.ts';

void runHook(promptHook, __dirname);

import { promptHook } from '../prompt.ts';
import { runHook } from '../run.ts';

void runHook(promptHook);

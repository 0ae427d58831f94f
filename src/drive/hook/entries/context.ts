import { contextHook } from '../context.ts';
import { runHook } from '../run.ts';

void runHook(contextHook);

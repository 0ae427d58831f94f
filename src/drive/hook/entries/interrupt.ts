import { interruptHook } from '../interrupt.ts';
import { runHook } from '../run.ts';

void runHook(interruptHook);

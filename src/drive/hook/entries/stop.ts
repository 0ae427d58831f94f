import { runHook } from '../run.ts';
import { stopHook } from '../stop.ts';

void runHook(stopHook);

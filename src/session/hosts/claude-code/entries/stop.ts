import { runHook } from '../hook.ts';
import { stopHook } from '../stop.ts';

void runHook(stopHook, __dirname);

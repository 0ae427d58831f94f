import { retireLoop } from '../store/fleet-loops.ts';
import { removeMarks } from '../store/fleet-marks.ts';
import { logPaths } from '../store/fleet-paths.ts';
import { removeWorker } from '../store/fleet-workers.ts';
import { removeIfThere } from '../system/files.ts';
import type { Environment } from '../system/program.ts';

/** Takes an ended worker off the list, and its files with it, except what a person reads of a loop afterwards. */
export function forgetWorker(env: Environment, name: string): void {
  // Off the list first: what a crash leaves after that, nobody drives any more.
  removeWorker(env, name);
  removeLogs(env, name);
  retireLoop(env, name);
  removeMarks(env, name);
}

/** What a worker without a window printed. */
export function removeLogs(env: Environment, name: string): void {
  for (const log of Object.values(logPaths(env, name))) removeIfThere(log);
}

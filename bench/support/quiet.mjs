// On a machine that others use too, there are quiet moments to measure in.
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const lookMs = 80;
const longestWaitMs = 60_000;

/** Waits until all cores had next to nothing to do for a moment; gives up after a minute. */
export async function quietMoment() {
  for (let waited = 0; waited < longestWaitMs; waited += lookMs) {
    const before = cpuTimes();
    await sleep(lookMs);
    const after = cpuTimes();
    if (after.idle - before.idle > 0.93 * (after.all - before.all)) return;
  }
}

function cpuTimes() {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { idle, all };
}

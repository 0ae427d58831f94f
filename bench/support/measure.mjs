// How figures are taken: contestants in turns, in one run, so that a busy or a slow machine hits all of them alike.
import { setImmediate } from 'node:timers/promises';
import { quietMoment } from './quiet.mjs';

let patient = false;

/** From now on, each run waits for a quiet moment of the machine. */
export function bePatient() {
  patient = true;
}

/** Runs each contestant once per round (A B A B …) and gives their figures by name, without those of the warm-up. */
export async function interleave(contestants, { rounds, warmups = 1 }) {
  const samples = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = -Math.min(warmups, rounds); round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      if (patient) await quietMoment();
      const figures = await run();
      if (round >= 0) samples[name].push(figures);
      await setImmediate(); // Ctrl-C is seen only between two turns of the event loop.
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, figures]) => [name, figures.flat()]));
}

function median(figures) {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * One row of the table, from the figures of ours and of the floor. A budget binds `ours` or the `ratio`, by `atMost`
 * or `atLeast`.
 */
export function compare(name, { unit, ours, floor, against, budget = null }) {
  const medians = { ours: median(ours), floor: median(floor) };
  const ratio = medians.ours / medians.floor;
  const ok = budget && isWithin({ ...medians, ratio }[budget.of], budget);
  return { name, unit, n: ours.length, ...medians, against, ratio, budget, ok };
}

function isWithin(value, { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }) {
  return value >= atLeast && value <= atMost;
}

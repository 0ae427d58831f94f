import { hashText } from './hash.ts';

const CAP_S = 300;

/** Returns the wait before the next try after `failures` failed turns in a row: 1, 2, 4 … 300 seconds. */
export function backoffMs(failures: number): number {
  return Math.min(2 ** Math.max(0, failures - 1), CAP_S) * 1000;
}

/** Spreads a wait over [ms/2, ms] by a hash of loop and attempt, so that two loops do not try at the same moment. */
export function withJitter(ms: number, seed: string, attempt: number): number {
  const share = Number.parseInt(hashText(`${seed}:${attempt}`).slice(8), 16) / 0xffffffff;
  return Math.round(ms / 2 + (ms / 2) * share);
}

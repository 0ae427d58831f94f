import { constants } from 'node:os';

/** As a shell tells it: 128 and the number of the signal. */
export function exitCodeOf(end: {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}): number | null {
  return end.exitCode ?? (end.signal === null ? null : 128 + constants.signals[end.signal]);
}

import { constants } from 'node:os';

/** Returns the exit code that a shell reports: 128 plus the number of a signal. */
export function exitCodeOf(end: {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}): number | null {
  return end.exitCode ?? (end.signal === null ? null : 128 + constants.signals[end.signal]);
}

import { cleanTerminal } from '../../../os/terminal/clean-terminal.ts';

/** One thing that was looked at: what was seen, and what to do about it. */
export type HealthCheck = {
  readonly id: string;
  /** The agent that it is about, where it is about one. */
  readonly agent?: string;
  /** `skipped`: it could not be found out. */
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly evidence: string;
  readonly remedy?: string;
};

export function hasError(checks: readonly HealthCheck[]): boolean {
  return checks.some(({ status }) => status === 'error');
}

/** The first line with something in it, fit for a terminal. */
export function firstLine(text: string): string {
  const line = cleanTerminal(text)
    .split('\n')
    .find((candidate) => candidate.trim() !== '');
  return line?.trim().slice(0, 200) ?? 'nothing';
}

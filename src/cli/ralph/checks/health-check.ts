import { cleanTerminal } from '../../../os/terminal/clean-terminal.ts';

/** The result of one check of `ralph doctor`: what it saw, and what to do about it. */
export type HealthCheck = {
  readonly id: string;
  /** The agent that the check is about, if any. */
  readonly agent?: string;
  /** `skipped` if nothing could be found out. */
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly evidence: string;
  readonly remedy?: string;
};

/** Makes the results of the check `id`. */
export function resultsOf(id: string, agent?: string) {
  const about = agent === undefined ? { id } : { id, agent };
  const result = (status: HealthCheck['status']) => {
    return (evidence: string, remedy?: string): HealthCheck => ({
      ...about,
      status,
      evidence,
      ...(remedy === undefined ? {} : { remedy }),
    });
  };
  return { ok: result('ok'), warning: result('warning'), error: result('error'), skipped: result('skipped') };
}

export function hasError(checks: readonly HealthCheck[]): boolean {
  return checks.some(({ status }) => status === 'error');
}

/** The first line that is not blank, cleaned for a terminal. */
export function firstLine(text: string): string {
  const line = cleanTerminal(text)
    .split('\n')
    .find((candidate) => candidate.trim() !== '');
  return line?.trim().slice(0, 200) ?? 'nothing';
}

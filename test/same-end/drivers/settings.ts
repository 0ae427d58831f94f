import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { acquireLock } from '../../../src/os/files/lock.ts';
import { type CaseSettings, check, token } from '../case.ts';

/** The settings of a case as `.ralph/settings.json` has them. */
export function settingsFile(settings: CaseSettings): Record<string, unknown> {
  const { maxIterations, match, response, pattern, guardrail, verify, maxTime, busy, ...others } = settings;
  return {
    agent: { command: 'claude' },
    maximumIterations: maxIterations,
    ...(response || pattern ? {} : { completionPromise: token }),
    ...(response ? { completionResponse: token } : {}),
    ...(pattern ? { donePattern: pattern } : {}),
    ...(match ? { promiseMatch: match } : {}),
    ...(guardrail ? { guardrails: [{ command: check }] } : {}),
    ...(verify ? { verify: [check] } : {}),
    ...(maxTime ? { maxTime: maxTime / 1000 } : {}),
    ...others,
  };
}

/** Takes the lock of the working copy where a case has another loop there. */
export function occupy({ busy }: CaseSettings, path: (name: string) => string): void {
  if (!busy) return;
  mkdirSync(path('.ralph'), { recursive: true });
  const other = { run: 'other', since: new Date().toISOString() };
  expect(acquireLock(path('.ralph/lock'), other).ok).toBe(true);
}

import { type CaseSettings, check, token } from '../case.ts';

/** The settings of a case as `.ralph/settings.json` has them. */
export function settingsFile(settings: CaseSettings): Record<string, unknown> {
  const { maxIterations, match, response, pattern, guardrail, verify, maxTime, ...others } = settings;
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

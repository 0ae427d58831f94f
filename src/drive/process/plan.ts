import type { AgentAdapter } from '../../agents/adapter.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import type { Completion, LoopPlan } from '../../core/loop.ts';

/** The same error may come this many times as often as a turn without progress. */
const sameErrorFactor = 2;

/** Returns the plan of a loop from the settings. `userSet` says which of these settings the user gave. */
export function planFor(
  id: string,
  settings: ResolvedSettings,
  adapter: AgentAdapter,
  userSet: { readonly minToolCalls: boolean; readonly response: boolean },
): LoopPlan {
  return {
    id,
    completion: completionOf(settings, userSet.response),
    limits: {
      iterations: settings.maximumIterations,
      wallMs: settings.maxTime ?? null,
      tokens: settings.maxTokens ?? null,
      costUsd: settings.maxCost ?? null,
      iterationTokens: settings.maxIterationTokens ?? null,
      iterationCostUsd: settings.maxIterationCost ?? null,
      waitMs: settings.maxWait,
      failures: settings.maxFailures,
      withoutProgress: settings.stuckAfter,
      withoutTools: settings.stuckAfter,
      sameError: settings.stuckAfter * sameErrorFactor,
    },
    minToolCalls: adapter.reportsToolCalls || userSet.minToolCalls ? settings.minToolCalls : null,
    countInPrompt: settings.includeIterationCountInPrompt,
  };
}

/** Returns the one marker: the promise if there is one, else the response; a pattern alone replaces both. */
function completionOf(settings: ResolvedSettings, userSetResponse: boolean): Completion {
  const { completionPromise, donePattern: pattern } = settings;
  const also = pattern === undefined ? {} : { pattern };
  if (completionPromise !== undefined) {
    return { promise: { token: completionPromise, match: settings.promiseMatch }, ...also };
  }
  if (pattern !== undefined && !userSetResponse) return { pattern };
  return { response: settings.completionResponse, ...also };
}

import type { AgentAdapter } from '../agents/adapter.ts';
import type { Completion, LoopPlan } from '../core/loop.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';

/** Errors that stay the same are given a few more goes than no progress at all. */
const sameErrorFactor = 2;

/** What the loop is bound to, from the settings. `asked` says whether the user set `minToolCalls` himself. */
export function planFor(
  id: string,
  settings: ResolvedSettings,
  adapter: AgentAdapter,
  asked: { readonly minToolCalls: boolean; readonly response: boolean },
): LoopPlan {
  return {
    id,
    completion: completionOf(settings, asked.response),
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
    minToolCalls: adapter.reportsToolCalls || asked.minToolCalls ? settings.minToolCalls : null,
    countInPrompt: settings.includeIterationCountInPrompt,
  };
}

/** One marker at a time: the promise if there is one, else the response; a pattern alone stands for both. */
function completionOf(settings: ResolvedSettings, askedForResponse: boolean): Completion {
  const { completionPromise, donePattern: pattern } = settings;
  const also = pattern === undefined ? {} : { pattern };
  if (completionPromise !== undefined) {
    return { promise: { token: completionPromise, match: settings.promiseMatch }, ...also };
  }
  if (pattern !== undefined && !askedForResponse) return { pattern };
  return { response: settings.completionResponse, ...also };
}

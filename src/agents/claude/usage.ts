import type { Usage } from '../../core/turn.ts';
import { addUsage, noUsage } from '../../core/turn.ts';
import { asRecord, count, type JsonRecord, num } from '../json.ts';
import { readUsage } from '../messages.ts';

/**
 * The usage in a result event: `since` adds to the results before it, `total` replaces them.
 * Assistant messages only hold a snapshot from their start, and `usage` leaves subagents out. The figures by model
 * hold all, but from 2.1.325 on they start with those of the session that was resumed, so there only the difference
 * since the last result is this turn's.
 */
export function readResultUsage(event: JsonRecord): { total?: Usage; since?: Usage } {
  const since = byModel(event.model_usage_since_last_result);
  if (since !== undefined) return { since };
  const total = byModel(event.modelUsage);
  if (total !== undefined) return { total };
  const costUsd = num(event.total_cost_usd);
  if (event.usage === undefined && costUsd === undefined) return {};
  return { total: { ...readUsage(asRecord(event.usage)), ...(costUsd === undefined ? {} : { costUsd }) } };
}

function byModel(models: unknown): Usage | undefined {
  if (typeof models !== 'object' || models === null) return undefined;
  return Object.values(models)
    .map((model): Usage => {
      const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens, costUSD } =
        asRecord(model);
      return {
        inputTokens: count(inputTokens),
        outputTokens: count(outputTokens),
        cacheReadTokens: count(cacheReadInputTokens),
        cacheWriteTokens: count(cacheCreationInputTokens),
        costUsd: count(costUSD),
      };
    })
    .reduce(addUsage, { ...noUsage, costUsd: 0 });
}

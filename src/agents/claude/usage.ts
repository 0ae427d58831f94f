import { isObject } from '../../core/json.ts';
import { addUsage, noUsage, type Usage } from '../../core/turn.ts';
import { usageOf } from '../events.ts';
import { asRecord, count, type JsonRecord, num } from '../json.ts';
import { readUsage } from '../messages.ts';

/**
 * Reads the usage of a result event: `since` adds to the results before it, `total` replaces them. The figures by model
 * include subagents, but from 2.1.325 on also earlier turns of a resumed session, so that the difference since the last
 * result counts there. `usage` leaves subagents out; programs that imitate the format have nothing else.
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
  if (!isObject(models)) return undefined;
  const usages = Object.values(models)
    .map(asRecord)
    .map((model) =>
      usageOf({
        input: model.inputTokens,
        output: model.outputTokens,
        cacheRead: model.cacheReadInputTokens,
        cacheWrite: model.cacheCreationInputTokens,
        cost: count(model.costUSD),
      }),
    );
  return usages.reduce(addUsage, { ...noUsage, costUsd: 0 });
}

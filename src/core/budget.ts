import { formatDuration } from './duration.ts';
import type { LoopState, Reason } from './loop.ts';
import { type Turn, totalTokens } from './turn.ts';

/** Returns the reason if a budget is spent after this turn: of the run first, then of the iteration. */
export function spentBudget(loop: LoopState, turn: Turn): Reason | null {
  return spentByRun(loop) ?? spentByTurn(loop, turn);
}

/** Returns the reason if a budget of the whole run is spent. */
export function spentByRun(loop: LoopState): Reason | null {
  const { wallMs, tokens, costUsd } = loop.plan.limits;
  const label = loop.usage.estimated ? 'estimated' : 'reported';
  if (wallMs !== null && loop.elapsedMs >= wallMs) {
    return {
      code: 'budget-time',
      text: `${formatDuration(loop.elapsedMs)} of ${formatDuration(wallMs)} are used`,
    };
  }
  const sum = totalTokens(loop.usage);
  if (tokens !== null && sum >= tokens) {
    return { code: 'budget-tokens', text: `${sum} of ${tokens} tokens are used (${label})` };
  }
  if (costUsd !== null && (loop.usage.costUsd ?? 0) >= costUsd) {
    return {
      code: 'budget-cost',
      text: `${dollars(loop.usage.costUsd)} of ${dollars(costUsd)} are spent (${label})`,
    };
  }
  return null;
}

function spentByTurn(loop: LoopState, turn: Turn): Reason | null {
  const { iterationTokens, iterationCostUsd } = loop.plan.limits;
  const label = loop.usage.estimated ? 'estimated' : 'reported';
  const own = turn.usage ? totalTokens(turn.usage) : 0;
  if (iterationTokens !== null && own >= iterationTokens) {
    return {
      code: 'budget-tokens',
      text: `this iteration used ${own} of ${iterationTokens} tokens (${label})`,
    };
  }
  const ownCost = turn.usage?.costUsd ?? 0;
  if (iterationCostUsd !== null && ownCost >= iterationCostUsd) {
    const text = `this iteration cost ${dollars(ownCost)} of ${dollars(iterationCostUsd)} (${label})`;
    return { code: 'budget-cost', text };
  }
  return null;
}

function dollars(amount: number | undefined): string {
  return `$${(amount ?? 0).toFixed(2)}`;
}

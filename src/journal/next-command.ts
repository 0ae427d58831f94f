import { dirname } from 'node:path';
import { agentNameOf, agents } from '../agents/registry.ts';
import { formatDuration } from '../core/duration.ts';
import type { Limits } from '../core/loop.ts';
import { totalTokens, type Usage } from '../core/turn.ts';
import { quoteWord } from '../core/words.ts';
import type { RunView } from './run-view.ts';

type Next = {
  /** Set if the question that the run ended with waits for its answer. */
  readonly asks: boolean;
  /** False if a later run began in the same folder. */
  readonly isLatest: boolean;
};

/** Returns the command to type after a run that ended or died. Terminal, page and report print it as it is. */
export function nextCommand(view: RunView, { asks, isLatest }: Next): string {
  const goOn = goOnCommand(view);
  if (asks) return `ralph answer "..." && ${goOn}`;
  if (view.outcome === 'PROMISE_ACCEPTED')
    return view.tasks !== null && isLatest ? 'ralph prd archive' : `ralph show ${view.run}`;
  const login =
    view.becauseCode === 'auth' && view.agent !== null ? agents[agentNameOf(view.agent)].login : null;
  if (login !== null) return `${login} && ${goOn}`;
  const raise = raiseOptions(view);
  return raise === null ? goOn : `${goOn} ${raise}`;
}

/** Returns the command that continues a run. One over a PRD is never resumed: the next goes on where its stories stand. */
export function goOnCommand({ run, tasks, prdOptions }: RunView): string {
  if (tasks === null) return `ralph run --resume ${run}`;
  const folder = dirname(tasks);
  const where = folder === 'ralph' ? [] : ['--ralph-dir', folder];
  return ['ralph prd run', ...[...where, ...prdOptions].map(shellWord)].join(' ');
}

/** Returns a word as a shell takes it. */
export function shellWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : quoteWord(word);
}

/** Returns the option that raises what ran out to twice of it; null if nothing did. */
function raiseOptions(view: RunView): string | null {
  const { outcome, limits, usage, elapsedMs, tasks, iterations, endedAt } = view;
  if (limits === null) return null;
  if (outcome === 'MAX_ITERATIONS_REACHED')
    return limits.iterations === null ? null : `${tasks === null ? '-m' : '-n'} ${limits.iterations * 2}`;
  if (outcome === 'USAGE_LIMIT') return longerWait(limits, iterations.at(-1)?.limit?.resetsAt, endedAt ?? 0);
  if (outcome !== 'BUDGET_SPENT') return null;
  return raiseBudget(limits, { usage, elapsedMs, last: iterations.at(-1)?.usage ?? null });
}

/** Returns the option that waits until the limit is over, in whole hours or minutes; if its end is unknown, twice as long. */
function longerWait({ waitMs }: Limits, resetsAt: number | undefined, endedAt: number): string {
  const ms = Math.max(1, resetsAt === undefined ? waitMs * 2 : resetsAt - endedAt);
  const unit = ms > 3_600_000 ? 3_600_000 : 60_000;
  return `--max-wait ${formatDuration(Math.ceil(ms / unit) * unit)}`;
}

type Spent = { readonly usage: Usage; readonly elapsedMs: number; readonly last?: Usage | null };

/** Returns the option that raises the budget that is spent to twice what was spent; null if none is. */
export function raiseBudget(limits: Limits, { usage, elapsedMs, last = null }: Spent): string | null {
  const { wallMs, tokens, costUsd, iterationTokens, iterationCostUsd } = limits;
  if (wallMs !== null && elapsedMs >= wallMs)
    return `--max-time ${formatDuration(Math.ceil((elapsedMs * 2) / 1000) * 1000)}`;
  const isSpent = (limit: number | null, spent: number | undefined) =>
    limit !== null && (spent ?? 0) >= limit;
  if (isSpent(tokens, totalTokens(usage))) return `--max-tokens ${totalTokens(usage) * 2}`;
  if (isSpent(costUsd, usage.costUsd)) return `--max-cost ${dollars(usage.costUsd)}`;
  if (last === null) return null;
  if (isSpent(iterationTokens, totalTokens(last))) return `--max-iteration-tokens ${totalTokens(last) * 2}`;
  return isSpent(iterationCostUsd, last.costUsd) ? `--max-iteration-cost ${dollars(last.costUsd)}` : null;
}

/** Returns twice an amount, in whole cents above it. */
function dollars(amount = 0): string {
  return (Math.ceil(amount * 200) / 100).toFixed(2);
}

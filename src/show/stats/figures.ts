import { totalTokens } from '../../core/turn.ts';
import { type RunView, titleOf } from '../../journal/run-view.ts';
import { statsOf } from './stats.ts';

export type RunFigures = ReturnType<typeof runFigures>;

/** Figures of one run, for trends and tables. */
export function runFigures(id: string, view: RunView, now: number) {
  const { acceptedTasks, iterations, toolCalls, elapsedMs, usage, ...stats } = statsOf([view], now);
  const { time, claims, rejectedBy, guardrails } = stats;
  return {
    id,
    title: titleOf(view.task),
    project: view.cwd?.split(/[\\/]/).at(-1) ?? '',
    branch: view.branch ?? '',
    agent: view.agent ?? '',
    model: view.iterations.findLast(({ model }) => model !== null)?.model ?? '',
    startedAt: view.startedAt,
    /** Null while it goes on, or if it was killed. */
    outcome: view.outcome,
    tokens: totalTokens(usage),
    costUsd: usage.costUsd ?? null,
    ...{ acceptedTasks, iterations, toolCalls, elapsedMs, time, claims, rejectedBy, guardrails },
  };
}

const columns: Readonly<Record<string, (row: RunFigures) => string | number | null>> = {
  run: ({ id }) => id,
  task: ({ title }) => title,
  project: ({ project }) => project,
  branch: ({ branch }) => branch,
  agent: ({ agent }) => agent,
  model: ({ model }) => model,
  started: ({ startedAt }) => startedAt && new Date(startedAt).toISOString(),
  outcome: ({ outcome }) => outcome,
  accepted_tasks: ({ acceptedTasks }) => acceptedTasks,
  iterations: ({ iterations }) => iterations,
  tool_calls: ({ toolCalls }) => toolCalls,
  seconds: ({ elapsedMs }) => Math.round(elapsedMs / 1000),
  cost_usd: ({ costUsd }) => costUsd,
  tokens: ({ tokens }) => tokens,
  claims_accepted: ({ claims }) => claims.accepted,
  claims_rejected: ({ claims }) => claims.rejected,
  guardrails_failed: ({ guardrails }) => guardrails.reduce((sum, { failed }) => sum + failed, 0),
};

/** Formats the figures as CSV (RFC 4180). */
export function figuresCsv(rows: readonly RunFigures[]): string {
  const lines = rows.map((row) => Object.values(columns).map((column) => cell(column(row))));
  return [Object.keys(columns), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

/** Quotes a cell. Spreadsheets run a text that begins like a formula, so that gets a quote mark before it. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

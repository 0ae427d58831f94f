import type { AgentEvent } from '../../agents/adapter.ts';
import { addUsage, type ContextSize, noUsage, type Usage } from '../../core/turn.ts';
import { type CheckView, elapsedAt, type RunView } from '../../journal/run-view.ts';
import type { Style } from './style.ts';
import { clockTime, costText, formatSeconds, formatTokens, inputTokens } from './units.ts';
import { widthOf } from './width.ts';

/** Figures from the agent's stream that are not in the journal yet. */
export type LiveFigures = {
  readonly usage: Usage | null;
  readonly context: ContextSize | null;
  /** Time of the agent's last sign of life, in epoch milliseconds; null while it does not run. */
  readonly lastSign: number | null;
};

export const noFigures: LiveFigures = { usage: null, context: null, lastSign: null };

export function addToFigures(figures: LiveFigures, event: AgentEvent, now: number): LiveFigures {
  const next = { ...figures, lastSign: now };
  if (event.type === 'usage') return { ...next, usage: addUsage(figures.usage ?? noUsage, event.usage) };
  if (event.type === 'result' && event.usage) return { ...next, usage: event.usage };
  return event.type === 'context' ? { ...next, context: event.size } : next;
}

const idleFrom = 10_000;

/** A part of the line; those with the highest rank are left out first. */
type Part = { readonly text: string; readonly rank: number };

/** `iter 4/15 · 2m10s · ↑45K ↓3K · $0.58 (est) · ctx 41% · 3/7 tasks · guard ✓✗ · idle 12s`, as much as fits. */
export function statusLine(
  view: RunView,
  live: LiveFigures,
  options: { readonly style: Style; readonly width: number; readonly now: number },
): string {
  const { style, width, now } = options;
  const { dim } = style;
  const usage = usageNow(view, live);
  const { done, all } = taskCount(view);
  const parts: Part[] = [
    { rank: 0, text: style.bold(iterationText(view)) },
    { rank: 1, text: dim(formatSeconds(elapsedAt(view, now))) },
    { rank: 5, text: dim(tokensText(usage, style)) },
    { rank: 2, text: costText(usage) },
    { rank: 6, text: contextText(live.context ?? view.iterations.at(-1)?.context ?? null) },
    { rank: 4, text: all === 0 ? '' : `${done}/${all} tasks` },
    { rank: 3, text: guardText(view, style) },
    { rank: 7, text: doingText(view, live, now, style) },
  ];
  const separator = dim(style.emoji ? ' · ' : ' | ');
  let visible = parts.filter(({ text }) => text !== '');
  while (visible.length > 1 && lineWidth(visible) > width) {
    const least = Math.max(...visible.map(({ rank }) => rank));
    visible = visible.filter(({ rank }) => rank !== least);
  }
  return visible.map(({ text }) => text).join(separator);
}

/** Returns `✓`, `✗`, `!` for a warning, or a dot while the check runs. */
export function checkMark(
  { ok, warning = false }: Pick<CheckView, 'ok'> & { readonly warning?: boolean },
  style: Style,
): string {
  if (warning) return style.yellow('!');
  const [pass, fail, running] = style.emoji ? ['✓', '✗', '·'] : ['+', 'x', '.'];
  if (ok === null) return style.dim(running ?? '');
  return ok ? style.green(pass ?? '') : style.red(fail ?? '');
}

/** Counts the stories of a PRD if there are any, else the agent's own list. */
export function taskCount({ stories, todo }: RunView): { done: number; all: number } {
  if (stories.length > 0) return { done: stories.filter(({ passes }) => passes).length, all: stories.length };
  return { done: todo.filter(({ status }) => status === 'done').length, all: todo.length };
}

export function tokensText(usage: Usage, style: Style): string {
  const input = inputTokens(usage);
  if (input + usage.outputTokens === 0) return '';
  const [up, down] = style.emoji ? ['↑', '↓'] : ['in ', 'out '];
  return `${up}${formatTokens(input)} ${down}${formatTokens(usage.outputTokens)}`;
}

/** Returns the share of the window if its size is known, else the tokens: a guess would mislead. */
export function contextText(context: { tokens: number; window?: number | null } | null): string {
  if (context === null) return '';
  const { tokens, window } = context;
  return `ctx ${window ? `${Math.round((tokens / window) * 100)}%` : formatTokens(tokens)}`;
}

export function usageNow(view: RunView, live: LiveFigures): Usage {
  return addUsage(view.usage, live.usage ?? noUsage);
}

/** `iter 4/15`; empty before the first. */
export function iterationText({ iterations }: RunView): string {
  const one = iterations.at(-1);
  return one === undefined ? '' : `iter ${one.iteration}${one.of === null ? '' : `/${one.of}`}`;
}

/** Shows the guardrails of the running iteration, or of the one before while it has none yet. */
function guardText({ iterations }: RunView, style: Style): string {
  const checks = iterations.findLast(({ guardrails }) => guardrails.length > 0)?.guardrails ?? [];
  return checks.length === 0 ? '' : `guard ${checks.map((check) => checkMark(check, style)).join('')}`;
}

function doingText(view: RunView, { lastSign }: LiveFigures, now: number, style: Style): string {
  const { waitUntil, state } = view;
  if (waitUntil !== null)
    return style.yellow(`waits ${formatSeconds(waitUntil - now)}, until ${clockTime(waitUntil)}`);
  if (state === 'waiting') return style.yellow('paused');
  if (lastSign === null || now - lastSign < idleFrom) return '';
  return style.yellow(`idle ${formatSeconds(now - lastSign)}`);
}

function lineWidth(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + widthOf(text), 0) + 3 * (parts.length - 1);
}

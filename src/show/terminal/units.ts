import { formatDuration } from '../../core/duration.ts';
import type { Usage } from '../../core/turn.ts';

const steps = [
  { size: 1e9, unit: 'B' },
  { size: 1e6, unit: 'M' },
  { size: 1e3, unit: 'K' },
] as const;

/** Formats tokens in two or three figures: `999`, `1.2K`, `45K`, `850K`, `1.2M`. */
export function formatTokens(tokens: number): string {
  const whole = Math.max(0, Math.round(tokens));
  // The unit goes by the rounded figure, so that 999,999 is 1M and not 1000K.
  const step = steps.find(({ size }) => whole >= size * 0.9995);
  if (step === undefined || whole < 1000) return String(whole);
  const amount = whole / step.size;
  return `${Number(amount.toFixed(amount < 9.95 ? 1 : 0))}${step.unit}`;
}

/** Formats dollars and cents, with four decimals below a cent. */
export function formatCost(usd: number): string {
  const isTiny = usd > 0 && usd < 0.005;
  return `$${usd.toFixed(isTiny ? 4 : 2)}`;
}

/** Formats a time for people here: `2026-11-17 23:20 UTC+1`. */
export function formatTime(time: string): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const minutes = -date.getTimezoneOffset();
  const rest = minutes % 60 === 0 ? '' : `:${two(Math.abs(minutes % 60))}`;
  const zone = minutes === 0 ? '' : `${minutes < 0 ? '-' : '+'}${Math.floor(Math.abs(minutes) / 60)}${rest}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())} UTC${zone}`;
}

/** Formats a time of day here: `23:20:05`. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** Formats a time that counts on, in whole seconds. */
export function formatSeconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}

/** Formats the cost of a turn or a run; empty if the agent does not report it. */
export function costText({ costUsd, estimated }: Usage): string {
  return costUsd === undefined ? '' : `${formatCost(costUsd)}${estimated ? ' (est)' : ''}`;
}

/** Counts the tokens that went to the model, cached ones included. */
export function inputTokens({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

/** `1.2M in (850K cached) / 45K out` */
export function usageText(usage: Usage): string {
  const cached = usage.cacheReadTokens === 0 ? '' : ` (${formatTokens(usage.cacheReadTokens)} cached)`;
  return `${formatTokens(inputTokens(usage))} in${cached} / ${formatTokens(usage.outputTokens)} out`;
}

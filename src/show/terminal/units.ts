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

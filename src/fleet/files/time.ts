/** Formats local time for the state files, such as `2024-01-15T10:30:00.000000`. */
export function stamp(ms: number): string {
  return `${stampSeconds(ms)}.${String(Math.floor(((ms % 1000) + 1000) % 1000)).padStart(3, '0')}000`;
}

/** Returns the epoch milliseconds of a stamp; null if it is none. */
export function readStamp(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Formats local time for people: `2024-01-15 10:30:00`. */
export function showTime(ms: number): string {
  return stampSeconds(ms).replace('T', ' ');
}

/** Formats an age: `45s`, `15m`, `6h` or `3d`. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Formats local time without the fraction, as in `iterations.log`. */
export function stampSeconds(ms: number): string {
  const date = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

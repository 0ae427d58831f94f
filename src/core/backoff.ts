const CAP_S = 300;

/** Seconds before the next try after `failures` failed turns in a row: 1, 2, 4 … 300. */
export function backoffMs(failures: number): number {
  return Math.min(2 ** Math.max(0, failures - 1), CAP_S) * 1000;
}

/** Spreads a wait over [ms/2, ms], by a hash of the loop and the try: the same loop waits the same, two loops do not. */
export function withJitter(ms: number, seed: string, attempt: number): number {
  let hash = 2166136261;
  for (const char of `${seed}:${attempt}`)
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0;
  return Math.round(ms / 2 + (ms / 2) * (hash / 0xffffffff));
}

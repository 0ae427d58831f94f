/** Returns the first version number in the output of `--version`, e.g. `codex-cli 0.166.0`. */
export function versionIn(text: string): string | null {
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? null;
}

/** True if `version` is `minimum` or later. An unknown version counts as the newest. */
export function atLeast(version: string | null, minimum: string): boolean {
  const number = version === null ? null : versionIn(version);
  if (number === null) return true;
  const have = number.split('.').map(Number);
  const want = minimum.split('.').map(Number);
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

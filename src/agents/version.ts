/** The first version number in what a CLI prints for `--version`, e.g. `codex-cli 0.166.0`. */
export function versionIn(text: string): string | null {
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? null;
}

/** Whether `version` is `minimum` or later. An unknown version counts as the newest. */
export function atLeast(version: string | null, minimum: string): boolean {
  const known = version === null ? null : versionIn(version);
  if (known === null) return true;
  const have = known.split('.').map(Number);
  const want = minimum.split('.').map(Number);
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

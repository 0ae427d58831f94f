import type { AgentGuard } from './adapter.ts';

/**
 * Returns our arguments, unless the user's flags include one of `names`: several CLIs refuse an option that is given
 * twice.
 */
export function unlessGiven(
  flags: readonly string[],
  names: readonly string[],
  ours: readonly string[],
): readonly string[] {
  const isGiven = flags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
  return isGiven ? [] : ours;
}

/** Returns the arguments of the guard, then the user's flags. */
export function withGuard(guard: AgentGuard, flags: readonly string[]): string[] {
  return [...guard.args, ...(guard.flags ?? flags)];
}

import type { AgentGuard } from './adapter.ts';

/**
 * Our words for the command line, unless the user's flags settle the same matter under one of `names`: several CLIs
 * refuse an option that is given twice.
 */
export function unlessGiven(
  flags: readonly string[],
  names: readonly string[],
  ours: readonly string[],
): readonly string[] {
  const given = flags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
  return given ? [] : ours;
}

/** What puts the guard before the tools, and then the user's own words. */
export function withGuard(guard: AgentGuard, flags: readonly string[]): string[] {
  return [...guard.args, ...(guard.flags ?? flags)];
}

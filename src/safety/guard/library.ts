import type { Category } from './categories.ts';

/** Where a call would happen. */
export type GuardPlace = {
  /** The folder; without it that of this process. */
  readonly cwd?: string;
  /** The environment of what would run; without it that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether nobody is there to ask, so that what cannot be judged is denied. True if not given. */
  readonly unattended?: boolean;
};

/** What the guard says, and to deny or to warn, why. */
export type GuardVerdict = {
  readonly verdict: 'allow' | 'warn' | 'deny';
  readonly category: Category | null;
  readonly reason: string | null;
};

/**
 * Says whether a shell command may run, with the rules of the project (`.ralph/guard.json`); fails where those are wrong.
 * The guard is loaded with the first call: whoever has no use for it does not wait for it.
 */
export async function checkCommand(command: string, place: GuardPlace = {}): Promise<GuardVerdict> {
  return (await import('./check.ts')).commandVerdict(command, place);
}

/** The same for a call of an agent's tool, by its name and input: `Bash`, `Write`, `apply_patch` and their like. */
export async function checkToolCall(
  tool: string,
  input: unknown,
  place: GuardPlace = {},
): Promise<GuardVerdict> {
  return (await import('./check.ts')).toolCallVerdict(tool, input, place);
}

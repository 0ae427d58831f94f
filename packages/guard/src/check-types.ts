import type { Category } from './categories.ts';

/** Circumstances of a call. */
export type GuardPlace = {
  readonly cwd?: string;
  /** The environment of what would run; without it that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True (the default) if nobody can be asked; then whatever cannot be judged is denied. */
  readonly unattended?: boolean;
  /** False if rules of the project may only forbid: a stranger may have written them. True is the default. */
  readonly allowRules?: boolean;
};

/** The guard's answer; a denial or a warning has a reason. */
export type GuardVerdict = {
  readonly verdict: 'allow' | 'warn' | 'deny';
  readonly category: Category | null;
  readonly reason: string | null;
};

import type { Category } from './categories.ts';

/** Where a call would happen. */
export type GuardPlace = {
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

import type { Environment } from '../system/program.ts';

/** What a hook needs of the world. */
export type SessionContext = {
  readonly env: Environment;
  readonly now: () => number;
  /** The folder of the running hooks. */
  readonly driver: string;
  readonly version: string;
};

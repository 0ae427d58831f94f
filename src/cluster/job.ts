import type { LoopOptions, LoopSettings } from '../store/fleet-loops.ts';

/** A loop as the machine that runs it has to know it. */
export type LoopJob = {
  readonly name: string;
  /** Names this one submission: a loop that is handed in again under its old name begins anew. */
  readonly id: string;
  readonly repo: string;
  readonly branch: string;
  /** What the branch starts from where it does not exist yet; null is the default branch. */
  readonly base: string | null;
  readonly prompt: string;
  readonly command: readonly string[];
  /** The folder in the repository that it runs in. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the machine that pass to the command, by name. */
  readonly pass: readonly string[];
  readonly settings: Omit<LoopSettings, 'prompt_file'>;
  readonly options: LoopOptions;
  /** What the machine that had it before us wants us to know. */
  readonly carried?: string;
};

import { appendFileSync, readFileSync } from 'node:fs';

/** One start of the fake agent, with its input. */
export type Call = {
  readonly turn: number;
  readonly pid: number;
  /** The arguments after the program's own. */
  readonly argv: readonly string[];
  readonly prompt: string;
  readonly cwd: string;
  readonly env: { readonly RALPH_RUN_ID?: string; readonly RALPH_ITERATION?: string };
};

/** Returns the files that a fake agent leaves beside its script. */
export function filesOf(script: string) {
  return { turns: `${script}.turn`, calls: `${script}.calls.ndjson`, children: `${script}.children` };
}

/**
 * Takes the next turn, from 1 on. Each start appends its own line to the counter file; appends are atomic, so that the
 * number of that line is unique.
 */
export function takeTurn(script: string): number {
  const path = filesOf(script).turns;
  const mine = `${process.pid}-${process.hrtime.bigint()}`;
  appendFileSync(path, `${mine}\n`);
  return linesOf(path).indexOf(mine) + 1;
}

/** Returns the lines of a file; none if it does not exist. */
export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

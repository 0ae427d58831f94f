import { appendFileSync, readFileSync } from 'node:fs';

/** One start of the fake agent: what it was given. */
export type Call = {
  readonly turn: number;
  readonly pid: number;
  /** The arguments after the program's own. */
  readonly argv: readonly string[];
  readonly prompt: string;
  readonly cwd: string;
  readonly env: { readonly RALPH_RUN_ID?: string; readonly RALPH_ITERATION?: string };
};

/** The files that a fake agent leaves beside its script. */
export function filesOf(script: string) {
  return { turns: `${script}.turn`, calls: `${script}.calls.ndjson`, children: `${script}.children` };
}

/**
 * Takes the next turn, counting from 1. Each start appends a line of its own to the counter file; an append is
 * atomic, so the place of that line is a number that nobody else has.
 */
export function takeTurn(script: string): number {
  const path = filesOf(script).turns;
  const mine = `${process.pid}-${process.hrtime.bigint()}`;
  appendFileSync(path, `${mine}\n`);
  return linesOf(path).indexOf(mine) + 1;
}

/** The lines of a file; none when it is not there. */
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

/** A failure with words for a human: what happened and why (`message`), and the next command to type (`remedy`). */
export class RalphError extends Error {
  readonly code: string;
  readonly remedy: string | undefined;
  readonly exitCode: number;

  constructor(
    code: string,
    message: string,
    options: { remedy?: string | undefined; exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RalphError';
    this.code = code;
    this.remedy = options.remedy;
    this.exitCode = options.exitCode ?? 2;
  }
}

/** Compares the name, since each file of the build has its own copy of the class. */
export function isRalphError(error: unknown): error is RalphError {
  return error instanceof Error && error.name === 'RalphError';
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

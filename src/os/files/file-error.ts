import { dirname } from 'node:path';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';
import { otherExits } from '../../core/outcome.ts';

/** Returns the code of a file system error, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True if the error says that there is nothing at the path. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

export function linkRefused(path: string, purpose: 'read' | 'written', cause?: unknown): RalphError {
  return new RalphError('symlink-refused', `${path} is a symlink; nothing is ${purpose} through one.`, {
    remedy: `remove the link: rm '${path}'`,
    cause,
  });
}

/** Limits of a process or the machine, by the code of the error. */
const limits: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  EMFILE: ['open files', 'raise the limit (ulimit -n 4096)'],
  ENFILE: ['open files', 'end other programs'],
  EAGAIN: ['processes', 'end other programs, or raise the limit (ulimit -u)'],
  ENOMEM: ['memory', 'end other programs'],
};

/** Returns the error for a machine that has no more open files, processes or memory to give; null for other reasons. */
export function machineFailure(error: unknown): RalphError | null {
  const code = errorCode(error) ?? '';
  const limit = limits[code];
  if (limit === undefined) return null;
  const [what, remedy] = limit;
  return new RalphError('machine-limit', `The system gives this program no more ${what} (${code}).`, {
    remedy: `${remedy}, then run the same command again`,
    exitCode: otherExits.internal.exitCode,
    cause: error,
  });
}

/** Returns exit code 70 for a disk that fails, which nothing in the settings or in the call can mend. */
function exitCodeFor(code: string | undefined): { readonly exitCode?: number } {
  return code === 'EIO' || code === 'EROFS' ? { exitCode: otherExits.internal.exitCode } : {};
}

/** True if the machine failed, which says nothing about the file. */
export function isMachineFailure(error: unknown): boolean {
  return isRalphError(error) && error.exitCode === otherExits.internal.exitCode;
}

export function readFailure(path: string, error: unknown): RalphError {
  const why = `${path} cannot be read: ${messageOf(error)}`;
  return (
    machineFailure(error) ??
    new RalphError('file-unreadable', why, { ...exitCodeFor(errorCode(error)), cause: error })
  );
}

/** Runs `work`, which writes `path`, and explains its failure. */
export function writing<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

export function writeFailure(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (isRalphError(error) || code === undefined) return error;
  const limit = machineFailure(error);
  if (limit !== null) return limit;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new RalphError('disk-full', `There is no space left to write ${path}.`, {
      remedy: 'free some space (df -h shows where), then run the same command again',
      exitCode: otherExits.internal.exitCode,
      cause: error,
    });
  }
  // For a path as short as ours, only an open with O_NOFOLLOW fails with ELOOP.
  if (code === 'ELOOP') return linkRefused(path, 'written', error);
  // Not the message of the system, which has the name of a temporary file.
  const reasons: Record<string, readonly [reason: string, remedy?: string]> = {
    EISDIR: ['there is a folder in its place.', `move it away: mv '${path}' '${path}.old'`],
    ENOTDIR: ['a part of its path is no folder.'],
    ENOENT: ['its folder is not there.', `mkdir -p '${dirname(path)}'`],
    EACCES: ['that is not allowed.'],
    EPERM: ['that is not allowed.'],
  };
  const [reason, remedy] = reasons[code] ?? [messageOf(error)];
  return new RalphError('file-unwritable', `${path} cannot be written: ${reason}`, {
    remedy,
    ...exitCodeFor(code),
    cause: error,
  });
}

import { dirname } from 'node:path';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';

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

/** Returns the error for a path that is a symlink. */
export function linkRefused(path: string, purpose: 'read' | 'written', cause?: unknown): RalphError {
  return new RalphError('symlink-refused', `${path} is a symlink; nothing is ${purpose} through one.`, {
    remedy: `remove the link: rm '${path}'`,
    cause,
  });
}

/** Explains why a write failed. */
export function writeFailure(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (isRalphError(error) || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new RalphError('disk-full', `There is no space left to write ${path}.`, {
      remedy: 'free some space (df -h shows where), then run the same command again',
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
    ...(remedy === undefined ? {} : { remedy }),
    cause: error,
  });
}

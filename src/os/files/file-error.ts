import { dirname } from 'node:path';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';

/** The code of a file system error, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True if the error says that there is nothing at the path. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The refusal to go through a symlink. */
export function linkRefused(path: string, done: 'read' | 'written', cause?: unknown): RalphError {
  return new RalphError('symlink-refused', `${path} is a symlink; nothing is ${done} through one.`, {
    remedy: `remove the link: rm '${path}'`,
    cause,
  });
}

/** What went wrong with a write, in words for a human. */
export function writeFailure(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (isRalphError(error) || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new RalphError('disk-full', `There is no space left to write ${path}.`, {
      remedy: 'free some space (df -h shows where), then run the same command again',
      cause: error,
    });
  }
  // Only an open with O_NOFOLLOW says ELOOP for a path as short as ours.
  if (code === 'ELOOP') return linkRefused(path, 'written', error);
  if (code === 'EISDIR') {
    return new RalphError('file-unwritable', `${path} cannot be written: there is a folder in its place.`, {
      remedy: `move it away: mv '${path}' '${path}.old'`,
      cause: error,
    });
  }
  if (code === 'ENOTDIR') {
    return new RalphError('file-unwritable', `${path} cannot be written: a part of its path is no folder.`, {
      cause: error,
    });
  }
  if (code === 'ENOENT') {
    return new RalphError('file-unwritable', `${path} cannot be written: its folder is not there.`, {
      remedy: `mkdir -p '${dirname(path)}'`,
      cause: error,
    });
  }
  return new RalphError('file-unwritable', `${path} cannot be written: ${reasonOf(code, error)}`, {
    cause: error,
  });
}

/** Without the name of a temporary file, which nobody asked for. */
function reasonOf(code: string, error: unknown): string {
  return code === 'EACCES' || code === 'EPERM' ? 'that is not allowed.' : messageOf(error);
}

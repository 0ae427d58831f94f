import { sha256 } from '../crypto.ts';
import { readProcText } from './process-list.ts';

/**
 * Marks a process by the largest file that it may write, a limit beyond all files that only root can raise again. Unlike
 * its environment, session and parent, a process cannot change it. Linux only.
 */
export function withDescent(
  argv: readonly [string, ...string[]],
  runId: string,
): readonly [string, ...string[]] {
  if (process.platform !== 'linux') return argv;
  return ['/bin/sh', '-c', 'ulimit -f "$0" 2>/dev/null; exec "$@"', String(blocksOf(runId)), ...argv];
}

/** True if a process or an ancestor was started with the mark of this run; without one, with that of any. */
export function descends(pid: number, runId?: string): boolean {
  const bytes = /^Max file size +(\d+) /m.exec(readProcText(`${pid}/limits`) ?? '')?.[1];
  if (bytes === undefined) return false;
  const below = mostBlocks - BigInt(bytes) / blockBytes;
  return runId === undefined ? below >= 0n && below < 2n ** 40n : below === mostBlocks - blocksOf(runId);
}

// Unit of `ulimit -f` in POSIX.
const blockBytes = 512n;
const mostBlocks = 2n ** 50n;

/** Returns about half a million terabytes, another number for each run. */
function blocksOf(runId: string): bigint {
  return mostBlocks - BigInt(`0x${sha256(runId).slice(0, 10)}`);
}

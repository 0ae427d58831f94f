import { readFileSync } from 'node:fs';
import { sha256 } from '../crypto.ts';

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

/** True if a process or an ancestor was started with this mark. */
export function descends(pid: number, runId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1').includes(` ${blocksOf(runId) * blockBytes} `);
  } catch {
    return false;
  }
}

// Unit of `ulimit -f` in POSIX.
const blockBytes = 512n;

/** Returns about half a million terabytes, another number for each run. */
function blocksOf(runId: string): bigint {
  return 2n ** 50n - BigInt(`0x${sha256(runId).slice(0, 10)}`);
}

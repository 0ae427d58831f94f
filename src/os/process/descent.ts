import { readFileSync } from 'node:fs';
import { sha256 } from '../crypto.ts';

/**
 * A mark that a process cannot take off, unlike its environment, its session and its parent: the largest file that it may
 * write. Ours is beyond all files, and only root may raise a limit again. Linux only.
 */
export function withDescent(
  argv: readonly [string, ...string[]],
  runId: string,
): readonly [string, ...string[]] {
  if (process.platform !== 'linux') return argv;
  return ['/bin/sh', '-c', 'ulimit -f "$0" 2>/dev/null; exec "$@"', String(blocksOf(runId)), ...argv];
}

/** Whether a process comes from one that was started so. */
export function descends(pid: number, runId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1').includes(` ${blocksOf(runId) * blockBytes} `);
  } catch {
    return false;
  }
}

// What POSIX has `ulimit -f` count in.
const blockBytes = 512n;

/** About half a million terabytes, and another number for each run. */
function blocksOf(runId: string): bigint {
  return 2n ** 50n - BigInt(`0x${sha256(runId).slice(0, 10)}`);
}

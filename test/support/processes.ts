import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process runs. A zombie does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const state = process.platform === 'linux' ? stateOf(pid) : psState(pid);
  return state !== '' && !state.startsWith('Z');
}

/** The live processes that a run started, wherever they have gone. */
export function processesOfRun(runId: string): number[] {
  return processesWithEnvironment('RALPH_RUN_ID', runId);
}

/** The live processes, without our own, that have this variable with this value. */
export function processesWithEnvironment(name: string, value: string): number[] {
  const found = process.platform === 'linux' ? scanProc(name, value) : scanPs(name, value);
  return found.filter((pid) => pid !== process.pid && alive(pid));
}

/** Asks again and again until the answer is truthy, and returns it. */
export async function waitUntil<T>(
  predicate: () => T | Promise<T>,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<T> {
  const { timeoutMs = 15_000, what = String(predicate) } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await predicate();
    if (answer) return answer;
    if (performance.now() > deadline)
      throw new Error(`gave up after ${timeoutMs} ms of waiting for: ${what}`);
    await sleep(20);
  }
}

function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2);
  } catch {
    return '';
  }
}

function psState(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

function scanProc(name: string, value: string): number[] {
  const wanted = `\0${name}=${value}\0`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((entry) => `\0${environmentOf(entry)}`.includes(wanted))
    .map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function scanPs(name: string, value: string): number[] {
  const lines = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return lines
    .split('\n')
    .filter((line) => `${line} `.includes(` ${name}=${value} `))
    .map((line) => Number.parseInt(line, 10));
}

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `number` counts those of the same name, from 1. */
export type Operation = { readonly number: number; readonly name: string; readonly path: string };

/** What happens to one file operation of a process: the process is killed before it, halfway through it, or it fails. */
export type Fault = {
  readonly operation: Operation;
  readonly kind: 'kill' | 'tear' | ErrorName;
  /** Every later operation of the same name fails too. */
  readonly lasting: boolean;
};

export type End = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Command = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
};

const errorNames = ['ENOSPC', 'EIO', 'EMFILE', 'EACCES', 'EROFS'] as const;
type ErrorName = (typeof errorNames)[number];

/** The errors that an operation can have; opening may fail in all of these ways. */
const errorsOf: Readonly<Record<string, readonly ErrorName[]>> = {
  read: ['EIO', 'EMFILE', 'EACCES'],
  write: ['ENOSPC', 'EIO'],
  fsync: ['ENOSPC', 'EIO'],
  truncate: ['EIO'],
  rename: ['ENOSPC', 'EIO', 'EACCES', 'EROFS'],
  link: ['ENOSPC', 'EIO', 'EACCES', 'EROFS'],
  unlink: ['EIO', 'EACCES', 'EROFS'],
  mkdir: ['ENOSPC', 'EIO', 'EACCES', 'EROFS'],
};

/** Every fault that an operation can have. Reading changes nothing, so a kill there shows nothing. */
export function faultsOf(operation: Operation): Fault[] {
  const { name } = operation;
  const kills: Fault['kind'][] = name === 'read' ? [] : name === 'write' ? ['kill', 'tear'] : ['kill'];
  return [
    ...kills.map((kind) => ({ operation, kind, lasting: false })),
    ...(errorsOf[name] ?? errorNames).flatMap((kind) =>
      // Files that nobody may read any more are what an agent can make of them, and count as changed.
      (name === 'read' && kind === 'EACCES' ? [false] : [false, true]).map((lasting) => ({
        operation,
        kind,
        lasting,
      })),
    ),
  ];
}

export function isKill({ kind }: Fault): boolean {
  return kind === 'kill' || kind === 'tear';
}

export function describeFault({ operation: { number, name, path }, kind, lasting }: Fault): string {
  return `${kind}${lasting ? ' for ever' : ''} at ${name} ${number}: ${path}`;
}

const library = join(tmpdir(), `faults-${process.pid}.so`);

/** Builds the library that makes faults, or returns why that cannot be done here. */
export function buildFaults(): string | null {
  if (process.platform !== 'linux') return 'faults are made by a preloaded library, which is for Linux only';
  const source = fileURLToPath(new URL('preload.c', import.meta.url));
  try {
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'faults are made by a library that has to be compiled, and cc does not work here';
  }
}

/** Runs a command to its end with its file operations below `root` counted, and one of them failing if asked to. */
export async function runWithFault(
  command: Command,
  root: string,
  fault: Fault | null,
): Promise<{ readonly end: End; readonly operations: readonly Operation[] }> {
  const log = join(root, '.operations');
  rmSync(log, { force: true });
  const end = await run({
    ...command,
    env: { ...command.env, LD_PRELOAD: library, FAULT_ROOT: root, FAULT_LOG: log, ...variablesOf(fault) },
  });
  return { end, operations: existsSync(log) ? readOperations(log) : [] };
}

function variablesOf(fault: Fault | null): Record<string, string> {
  if (fault === null) return {};
  const { operation, kind, lasting } = fault;
  return {
    FAULT_AT: String(operation.number),
    FAULT_NAME: operation.name,
    ...(kind === 'kill' || kind === 'tear'
      ? { FAULT_KILL: kind === 'kill' ? '1' : '2' }
      : { FAULT_ERRNO: String(constants.errno[kind]), FAULT_LASTING: lasting ? '1' : '0' }),
  };
}

function readOperations(log: string): Operation[] {
  const counts = new Map<string, number>();
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [name = '', ...path] = line.split(' ');
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { number, name, path: path.join(' ') };
  });
}

/** Runs a command to its end; one that hangs is ended after a minute and has no exit code. */
export function run({ argv: [program = '', ...args], cwd, env, input = '' }: Command): Promise<End> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: 60_000,
    killSignal: 'SIGTERM',
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      output[name] += chunk;
    });
  }
  child.stdin.on('error', () => {}); // It may have ended without reading.
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...output }));
  });
}

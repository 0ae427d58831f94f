import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { versionIn } from '../agents/version.ts';
import { isObject } from '../core/shape.ts';
import { systemClock } from '../system/clock.ts';
import { ensureDir, readJson, writeAtomic } from '../system/files.ts';
import { type CommandResult, type Environment, runCommand } from '../system/process.ts';
import { cacheFolder } from './paths.ts';

/** The state of a program's file, and what it answered in that state. */
type Known = {
  readonly file: string;
  readonly changed: number;
  readonly size: number;
  readonly version: string | null;
  readonly asked: number;
};

const timeoutMs = 10_000;
// A shim of a version manager (volta, mise, asdf) stays as it is when the program behind it is updated.
const validMs = 7 * 24 * 60 * 60_000;

/**
 * The version of an installed agent, null where it does not tell one. It is asked once and then remembered until its
 * file changes. Only for agents that we know: any other program may take `--version` for a task.
 */
export async function agentVersion(program: string, env: Environment): Promise<string | null> {
  const known = knownOf(program, env);
  return known ? known.version : (await askAgentVersion(program, env)).version;
}

/** What is remembered of a program that has not changed since; null where nothing is. */
export function rememberedVersion(program: string, env: Environment): string | null {
  return knownOf(program, env)?.version ?? null;
}

function knownOf(program: string, env: Environment): Known | null {
  const known = remembered(env)[resolve(program)];
  const now = stateOf(program);
  const same =
    known && now && known.file === now.file && known.changed === now.changed && known.size === now.size;
  return same ? known : null;
}

/** Runs `--version` in any case, and gives what came of it as well. */
export async function askAgentVersion(
  program: string,
  env: Environment,
): Promise<{ readonly version: string | null; readonly result: CommandResult }> {
  const state = stateOf(program);
  const result = await runCommand([program, '--version'], {
    cwd: process.cwd(),
    env,
    timeoutMs,
    maxBytes: 64 * 1024,
  });
  // What a failing program prints may name versions too, such as that of the Node.js it misses.
  if (result.exitCode !== 0) return { version: null, result };
  const version = versionIn(result.stdout) ?? versionIn(result.stderr);
  if (state) remember(env, resolve(program), { ...state, version, asked: systemClock.now() });
  return { version, result };
}

/** Package managers give files the time of their packing, or of all packages; the time of change is always true. */
function stateOf(program: string): Pick<Known, 'file' | 'changed' | 'size'> | null {
  try {
    const file = realpathSync(program);
    const { ctimeMs: changed, size } = statSync(file);
    return { file, changed, size };
  } catch {
    return null;
  }
}

function cacheFile(env: Environment): string {
  return join(cacheFolder(env), 'agent-versions.json');
}

/** By the path of the program, without what is too old. A torn file is an empty one. */
function remembered(env: Environment): Readonly<Record<string, Known>> {
  const read = readJson(cacheFile(env));
  if (!read.ok || !isObject(read.value) || read.value.v !== 1 || !isObject(read.value.programs)) return {};
  const now = systemClock.now();
  const valid = Object.entries(read.value.programs).filter(
    (entry): entry is [string, Known] => isKnown(entry[1]) && Math.abs(now - entry[1].asked) < validMs,
  );
  return Object.fromEntries(valid);
}

function remember(env: Environment, program: string, known: Known): void {
  const programs = { ...remembered(env), [program]: known };
  try {
    ensureDir(cacheFolder(env));
    writeAtomic(cacheFile(env), `${JSON.stringify({ v: 1, programs })}\n`, { fsync: false });
  } catch {
    // A home that cannot be written costs time, not the run.
  }
}

function isKnown(value: unknown): value is Known {
  if (!isObject(value)) return false;
  const { file, changed, size, version, asked } = value;
  if (typeof file !== 'string' || (version !== null && typeof version !== 'string')) return false;
  return [changed, size, asked].every((number) => typeof number === 'number');
}

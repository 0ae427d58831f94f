import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { versionIn } from '../agents/version.ts';
import { attempt } from '../os/attempt.ts';
import { systemClock } from '../os/clock.ts';
import { ensureDir, readJsonAs, writeAtomic } from '../os/files/files.ts';
import { type CommandResult, type Environment, runCommand } from '../os/process/process.ts';
import { cacheFolder } from './paths.ts';

/** State of a program's file, and its version in that state. */
const entrySchema = v.object({
  file: v.string(),
  changed: v.number(),
  size: v.number(),
  version: v.nullable(v.string()),
  asked: v.number(),
});
type CacheEntry = Readonly<v.InferOutput<typeof entrySchema>>;

const cacheSchema = v.object({ v: v.literal(1), programs: v.record(v.string(), entrySchema) });

const timeoutMs = 10_000;
// The shim of a version manager (volta, mise, asdf) does not change when the program behind it is updated.
const validMs = 7 * 24 * 60 * 60_000;

/**
 * Returns the version of an installed agent, null if it does not print one. Caches it until the file changes. Only for
 * known agents: any other program may take `--version` for a task.
 */
export async function agentVersion(program: string, env: Environment): Promise<string | null> {
  const entry = cacheEntryOf(program, env);
  return entry ? entry.version : (await askAgentVersion(program, env)).version;
}

/** Returns the cached version of a program; null if there is none, or if the program changed. */
export function rememberedVersion(program: string, env: Environment): string | null {
  return cacheEntryOf(program, env)?.version ?? null;
}

function cacheEntryOf(program: string, env: Environment): CacheEntry | null {
  const entry = remembered(env)[resolve(program)];
  const now = stateOf(program);
  const isSame = entry?.file === now?.file && entry?.changed === now?.changed && entry?.size === now?.size;
  return (isSame && entry) || null;
}

/** Runs `--version`, cached or not, and returns its result as well. */
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
  // A failing program may print other versions, such as that of the Node.js it misses.
  if (result.exitCode !== 0) return { version: null, result };
  const version = versionIn(result.stdout) ?? versionIn(result.stderr);
  if (state) remember(env, resolve(program), { ...state, version, asked: systemClock.now() });
  return { version, result };
}

/** Uses the time of change: package managers set the other to that of packing, or the same for all packages. */
function stateOf(program: string): Pick<CacheEntry, 'file' | 'changed' | 'size'> | null {
  return attempt(() => {
    const file = realpathSync(program);
    const { ctimeMs: changed, size } = statSync(file);
    return { file, changed, size };
  }, null);
}

function cacheFile(env: Environment): string {
  return join(cacheFolder(env), 'agent-versions.json');
}

/** Reads the cache without old entries. A torn file is an empty one. */
function remembered(env: Environment): Readonly<Record<string, CacheEntry>> {
  const { programs = {} } = readJsonAs(cacheFile(env), cacheSchema) ?? {};
  const now = systemClock.now();
  return Object.fromEntries(
    Object.entries(programs).filter(([, { asked }]) => Math.abs(now - asked) < validMs),
  );
}

function remember(env: Environment, program: string, entry: CacheEntry): void {
  const programs = { ...remembered(env), [program]: entry };
  // Without a cache it only takes longer.
  attempt(() => {
    ensureDir(cacheFolder(env));
    writeAtomic(cacheFile(env), `${JSON.stringify({ v: 1, programs })}\n`, { fsync: false });
  }, null);
}

import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { ensureDir, readJsonAs, removeIfThere, writeAtomic } from '../system/files.ts';
import { realPath } from '../system/real-path.ts';
import { stateFolder } from './paths.ts';
import { reviewFieldsSchema } from './ralph-active.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const texts = v.array(v.string());

/** What a story was to be when a loop first saw it. */
const firstSeenSchema = v.object({
  title: v.string(),
  description: v.string(),
  acceptanceCriteria: v.array(v.unknown()),
});

/** What loops remember of a task list, outside the project, where its agents work. */
const memorySchema = v.object({
  project: v.string(),
  branchName: v.string(),
  /** When a loop first saw the list: what ran earlier in the same place was for another one. */
  since: v.exactOptional(v.number()),
  /** The review fields as they were when a loop last checked them. */
  checked: v.record(v.string(), reviewFieldsSchema),
  /** Stories that were approved, but by no review of a loop. */
  outside: texts,
  verifyCommands: texts,
  stories: v.record(v.string(), firstSeenSchema),
});

export type FirstSeen = Readonly<v.InferOutput<typeof firstSeenSchema>>;
export type PrdMemory = Readonly<v.InferOutput<typeof memorySchema>>;

/** Null where nothing is remembered, or nothing that can be read. */
export function readMemory(env: Environment, tasks: string): PrdMemory | null {
  return readJsonAs(memoryPath(env, tasks), memorySchema);
}

export function keepMemory(env: Environment, tasks: string, memory: PrdMemory): void {
  const path = memoryPath(env, tasks);
  ensureDir(dirname(path));
  writeAtomic(path, `${JSON.stringify(memory)}\n`, { fsync: false });
}

/** A task list that is begun anew has no past. */
export function forgetMemory(env: Environment, tasks: string): void {
  removeIfThere(memoryPath(env, tasks));
}

function memoryPath(env: Environment, tasks: string): string {
  const place = join(realPath(dirname(tasks)), 'tasks.json');
  return join(
    stateFolder(env),
    'prd',
    `${createHash('sha256').update(place).digest('hex').slice(0, 16)}.json`,
  );
}

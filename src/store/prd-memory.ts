import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Snapshot } from '../core/review/story.ts';
import { isObject } from '../core/shape.ts';
import { ensureDir, readJson, removeIfThere, writeAtomic } from '../system/files.ts';
import { realPath } from '../system/real-path.ts';
import { stateFolder } from './paths.ts';
import { snapshotIn } from './ralph-active.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a story was to be when a loop first saw it. */
export type FirstSeen = {
  readonly title: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly unknown[];
};

/** What loops remember of a task list, outside the project, where its agents work. */
export type PrdMemory = {
  readonly project: string;
  readonly branchName: string;
  /** When a loop first saw the list: what ran earlier in the same place was for another one. */
  readonly since?: number;
  /** The review fields as they were when a loop last checked them. */
  readonly checked: Snapshot;
  /** Stories that were approved, but by no review of a loop. */
  readonly outside: readonly string[];
  readonly verifyCommands: readonly string[];
  readonly stories: Readonly<Record<string, FirstSeen>>;
};

/** Null where nothing is remembered, or nothing that can be read. */
export function readMemory(env: Environment, tasks: string): PrdMemory | null {
  const read = readJson(memoryPath(env, tasks));
  if (!read.ok || !isObject(read.value)) return null;
  const { project, branchName, since, checked, outside, verifyCommands, stories } = read.value;
  const { snapshot } = snapshotIn(checked);
  if (typeof project !== 'string' || typeof branchName !== 'string' || !snapshot || !isObject(stories))
    return null;
  return {
    project,
    branchName,
    ...(typeof since === 'number' && { since }),
    checked: snapshot,
    outside: textsIn(outside),
    verifyCommands: textsIn(verifyCommands),
    stories: Object.fromEntries(Object.entries(stories).flatMap(([id, story]) => firstSeen(id, story))),
  };
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

function firstSeen(id: string, value: unknown): [string, FirstSeen][] {
  if (!isObject(value) || typeof value.title !== 'string' || !Array.isArray(value.acceptanceCriteria))
    return [];
  const { title, acceptanceCriteria, description } = value;
  return [
    [id, { title, acceptanceCriteria, description: typeof description === 'string' ? description : '' }],
  ];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

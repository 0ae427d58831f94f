import { join } from 'node:path';
import { isObject } from '../../core/shape.ts';
import {
  ensureDir,
  lstatOf,
  readJson,
  readText,
  removeEmptyDir,
  removeIfThere,
  writeAtomic,
  writeNew,
} from '../../system/files.ts';
import type { Protected } from './protect.ts';

export type StandIns = {
  /** Puts them where nothing is. */
  place(): void;
  /** Takes away those that were put there. */
  clear(): void;
};

type Placed = { readonly path: string; readonly content: string | null };

/**
 * A mount needs something to be mounted on. What is put there is on record before it is made, so that the next start
 * clears up what a killed one left; only what is still empty, or as we wrote it, is ever removed.
 */
export function createStandIns(folder: string, wanted: readonly Protected[]): StandIns {
  const record = join(folder, 'stand-ins.json');
  const clear = (): void => {
    for (const { path, content } of placedBefore(record)) {
      if (content === null) removeEmptyDir(path);
      else if (lstatOf(path)?.isFile() && readText(path) === content) removeIfThere(path);
    }
    removeIfThere(record);
  };
  return {
    clear,
    place() {
      clear();
      const placed = wanted.flatMap(({ path, standIn }) =>
        standIn && !lstatOf(path) ? [{ path, content: standIn.content }] : [],
      );
      if (placed.length === 0) return;
      writeAtomic(record, JSON.stringify(placed), { fsync: false });
      for (const { path, content } of placed) {
        if (content === null) ensureDir(path, 0o755);
        else writeNew(path, content, 0o644, false);
      }
    },
  };
}

function placedBefore(record: string): Placed[] {
  const read = readJson(record);
  return read.ok && Array.isArray(read.value) ? read.value.filter(isPlaced) : [];
}

function isPlaced(value: unknown): value is Placed {
  return (
    isObject(value) &&
    typeof value.path === 'string' &&
    (value.content === null || typeof value.content === 'string')
  );
}

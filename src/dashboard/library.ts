import { loopPaths } from '../store/fleet-paths.ts';
import { type JournalTail, tailJournal } from '../store/journal-tail.ts';
import type { Environment } from '../system/program.ts';
import type { Picture } from '../view/picture.ts';
import { addEvent } from '../view/picture-fold.ts';
import { newPicture } from '../view/picture-new.ts';
import { type LoopSource, listSources } from './sources.ts';
import { byUrgency, type LoopSummary, summarise } from './summary.ts';
import { workerPicture } from './worker-picture.ts';

/** A loop as it was at the last look. `picture` is dropped where nobody watches and nothing goes on. */
type Entry = {
  source: LoopSource;
  tail: JournalTail | null;
  picture: Picture | null;
  summary: LoopSummary;
  /** Grows with every change of the summary. */
  revision: number;
};

export type Library = {
  /** All loops, those that need a person first. */
  summaries(): LoopSummary[];
  /** The loops that changed after a revision, and the revision now. */
  changedSince(revision: number): { readonly loops: LoopSummary[]; readonly revision: number };
  find(id: string): LoopSource | null;
  /** The picture of a loop, up to date. */
  picture(id: string): Picture | null;
  /** Looks for what is new: at the journals of what goes on and of what is watched, and for new loops. */
  refresh(watched: ReadonlySet<string>, withList: boolean): void;
};

/** Reads every journal once, and then only what was appended. */
export function openLibrary(env: Environment, cwd: string): Library {
  const entries = new Map<string, Entry>();
  let revision = 0;

  function look(entry: Entry): void {
    const { source } = entry;
    const picture = follow(entry, env);
    const summary = summarise(picture, source, source.life);
    if (JSON.stringify(summary) !== JSON.stringify(entry.summary)) entry.revision = ++revision;
    entry.summary = summary;
  }

  function meet(source: LoopSource): void {
    const known = entries.get(source.id);
    if (known && known.source.journal === source.journal) {
      const changed = known.source.life !== source.life || source.worker !== null;
      known.source = source;
      if (changed) look(known);
      return;
    }
    const picture = newPicture(source.run ?? source.name);
    const entry: Entry = {
      source,
      tail: source.journal === null ? null : tailJournal(source.journal),
      picture,
      summary: summarise(picture, source, source.life),
      revision: ++revision,
    };
    entries.set(source.id, entry);
    look(entry);
    if (source.life === 'dead') forget(entry);
  }

  /** Ended runs are many; who wants to see one reads it again. */
  function forget(entry: Entry): void {
    entry.picture = null;
    entry.tail = null;
  }

  const library: Library = {
    summaries: () => [...entries.values()].map(({ summary }) => summary).sort(byUrgency),
    changedSince: (since) => ({
      loops: [...entries.values()].filter((entry) => entry.revision > since).map(({ summary }) => summary),
      revision,
    }),
    find: (id) => entries.get(id)?.source ?? null,
    picture(id) {
      const entry = entries.get(id);
      if (entry === undefined) return null;
      look(entry);
      return entry.picture;
    },
    refresh(watched, withList) {
      if (withList) for (const source of listSources(env, cwd)) meet(source);
      for (const [id, entry] of entries) {
        const { life, journal } = entry.source;
        const isWatched = watched.has(id);
        // What has no journal was looked at when the list was made.
        if (journal !== null && (life !== 'dead' || isWatched)) look(entry);
        else if (life === 'dead' && !isWatched) forget(entry);
      }
    },
  };
  library.refresh(new Set(), true);
  return library;
}

/** The picture with what was appended since the last look. */
function follow(entry: Entry, env: Environment): Picture {
  const { source } = entry;
  if (source.journal === null) {
    const { worker, loop } = source.worker ?? { worker: null, loop: null };
    const picture = worker
      ? workerPicture(worker, loop, loopPaths(env, worker.name).events)
      : newPicture(source.name);
    entry.picture = picture;
    return picture;
  }
  entry.tail ??= tailJournal(source.journal);
  const { events, restarted } = entry.tail.read();
  const picture = restarted || entry.picture === null ? newPicture(source.run ?? source.name) : entry.picture;
  for (const event of events) addEvent(picture, event);
  entry.picture = picture;
  return picture;
}

import { addEvent } from '../../journal/fold-events.ts';
import { type JournalTail, tailJournal } from '../../journal/journal-tail.ts';
import { isOpen, RunView } from '../../journal/run-view.ts';
import type { Environment } from '../../os/process/program.ts';
import { present } from './present.ts';
import { type LoopSource, lifeOf, listSources, questionOf, type Sources } from './sources.ts';
import { type LoopSummary, summarise } from './summarise.ts';
import { byUrgency } from './summary.ts';
import { workerView } from './worker-view.ts';

/** A loop as it was at the last look. What was read is dropped where nobody watches and nothing goes on. */
type Entry = {
  source: LoopSource;
  tail: JournalTail | null;
  /** As the journal tells it. */
  folded: RunView | null;
  /** As it is shown. */
  view: RunView;
  summary: LoopSummary;
  /** Question that the run ended with. */
  asks: boolean;
  /** Grows with every change of the summary. */
  revision: number;
};

/** Changes of the list of loops. */
export type Changes = {
  readonly loops: readonly LoopSummary[];
  /** Ids of those that are not there any more. */
  readonly gone: readonly string[];
  /** Why some loops are missing. */
  readonly trouble: string | null;
  readonly revision: number;
};

export type Library = Awaited<ReturnType<typeof openLibrary>>;

export type LibraryOptions = {
  readonly env: Environment;
  readonly cwd: string;
  readonly now: () => number;
  /** True to list the workers of the fleet, too. */
  readonly withFleet: boolean;
  /** Another fleet than that of this machine. */
  readonly fleet?: () => Promise<Sources>;
};

/** Reads every journal once, and then only what was appended. */
export async function openLibrary(options: LibraryOptions) {
  const { env, cwd, now } = options;
  const entries = new Map<string, Entry>();
  /** The revision at which each went away. */
  const gone = new Map<string, number>();
  let trouble: string | null = null;
  let warning: string | null = null;
  let revision = 0;
  let listing: Promise<void> = Promise.resolve();

  function look(entry: Entry): void {
    const folded = follow(entry, env);
    const isRun = entry.source.kind === 'run';
    // Somebody may have resumed it since the list was made.
    const life = isRun && isOpen(folded) ? lifeOf(env, entry.source.folder, folded.run) : entry.source.life;
    entry.asks = isRun && folded.needs?.kind === 'answer';
    entry.source = { ...entry.source, life, question: questionNow(entry.source, entry.asks) };
    entry.view = present(folded, entry.source, now());
    const summary = summarise(entry.view, entry.source);
    if (JSON.stringify(summary) !== JSON.stringify(entry.summary)) entry.revision = ++revision;
    entry.summary = summary;
  }

  function questionNow(source: LoopSource, asks: boolean): LoopSource['question'] {
    return asks ? questionOf(env, source) : null;
  }

  function meet(source: LoopSource): void {
    gone.delete(source.id);
    const known = entries.get(source.id);
    if (known && known.source.journal === source.journal) {
      const { life, isLatest, question } = known.source;
      const changed =
        source.worker !== null ||
        life !== source.life ||
        isLatest !== source.isLatest ||
        question !== questionNow(source, known.asks);
      known.source = { ...source, question };
      if (changed) look(known);
      return;
    }
    const view = new RunView(source.run ?? source.name);
    const summary = summarise(view, source);
    const entry: Entry = {
      ...{ source, view, summary, tail: null, folded: null, asks: false },
      revision: ++revision,
    };
    entries.set(source.id, entry);
    look(entry);
    if (entry.source.life === 'dead') forget(entry);
  }

  async function listNow(): Promise<void> {
    const found = await listSources(env, cwd, options);
    const ids = new Set(found.sources.map(({ id }) => id));
    for (const source of found.sources) meet(source);
    for (const id of entries.keys()) {
      if (ids.has(id)) continue;
      entries.delete(id);
      gone.set(id, ++revision);
    }
    warning = found.warning ?? warning;
    trouble = found.trouble ?? warning;
  }

  const library = {
    /** All loops, those that need a person first. */
    summaries: () => [...entries.values()].map(({ summary }) => summary).sort(byUrgency),
    /** Returns the changes after a revision; after -1, everything. */
    changedSince: (since: number): Changes => ({
      loops: [...entries.values()].filter((entry) => entry.revision > since).map(({ summary }) => summary),
      gone: [...gone].flatMap(([id, at]) => (at > since && since >= 0 ? [id] : [])),
      trouble,
      revision,
    }),
    find: (id: string) => entries.get(id)?.source ?? null,
    /** The view of a loop, up to date. */
    view(id: string): RunView | null {
      const entry = entries.get(id);
      if (entry === undefined) return null;
      look(entry);
      return entry.view;
    },
    /** The revision of its summary: a view may change without an event in its journal. */
    revisionOf: (id: string) => entries.get(id)?.revision ?? 0,
    /** Looks which loops there are. */
    list(): Promise<void> {
      // One after the other: an older list must not come after a newer one.
      listing = listing.catch(() => {}).then(listNow);
      return listing;
    },
    /** Looks for what is new in the journals of what goes on and of what is watched. */
    look(watched: ReadonlySet<string>): void {
      for (const [id, entry] of entries) {
        const { life, journal } = entry.source;
        const isWatched = watched.has(id);
        // What has no journal was looked at when the list was made.
        if (journal !== null && (life !== 'dead' || isWatched)) look(entry);
        else if (life === 'dead' && !isWatched) forget(entry);
      }
    },
  };
  await library.list();
  return library;
}

/** Ended runs are many; who wants to see one reads it again. */
function forget(entry: Entry): void {
  entry.folded = null;
  entry.tail = null;
  entry.view = new RunView(entry.source.name);
}

/** The view with what was appended since the last look. */
function follow(entry: Entry, env: Environment): RunView {
  const { source } = entry;
  if (source.journal === null) {
    entry.folded = source.worker ? workerView(env, source.worker) : new RunView(source.name);
    return entry.folded;
  }
  entry.tail ??= tailJournal(source.journal);
  const { events, damaged, unknown, restarted } = entry.tail.read();
  const folded = restarted || entry.folded === null ? new RunView(source.run ?? source.name) : entry.folded;
  for (const event of events) addEvent(folded, event);
  folded.damaged += damaged;
  folded.unknown += unknown;
  entry.folded = folded;
  return folded;
}

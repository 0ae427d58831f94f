import { isDeepStrictEqual } from 'node:util';
import { addEvent } from '../../journal/fold-events.ts';
import { type JournalTail, tailJournal } from '../../journal/journal-tail.ts';
import { isOpen, RunView } from '../../journal/run-view.ts';
import type { Environment } from '../../os/process/program.ts';
import { type RunFigures, runFigures } from '../stats/figures.ts';
import { present } from './present.ts';
import { type LoopSource, lifeOf, listSources, questionOf, type Sources } from './sources.ts';
import { type LoopSummary, summarise } from './summarise.ts';
import { byUrgency, isLive } from './summary.ts';
import { workerView } from './worker-view.ts';

/** A loop as it was at the last look. What was read is dropped where nobody watches and nothing goes on. */
type Entry = {
  source: LoopSource;
  /** The journal up to where it was read, and what it tells. */
  tail: JournalTail | null;
  folded: RunView | null;
  /** Stays the same object until something in it changes. */
  summary: LoopSummary;
  figures: RunFigures | null;
  /** True if the run ended with a question. */
  asks: boolean;
};

export type LibraryOptions = {
  readonly env: Environment;
  readonly cwd: string;
  readonly now: () => number;
  /** True to list the workers of the fleet, too. */
  readonly withFleet: boolean;
  readonly fleet?: () => Promise<Sources>;
};

export async function openLibrary(options: LibraryOptions): Promise<Library> {
  const library = new Library(options);
  await library.list();
  return library;
}

/** All loops. Reads every journal once, and then only what was appended. */
export class Library {
  trouble: string | null = null;
  readonly #options: LibraryOptions;
  readonly #entries = new Map<string, Entry>();
  #warning: string | null = null;
  #listing: Promise<void> = Promise.resolve();

  constructor(options: LibraryOptions) {
    this.#options = options;
  }

  summaries(): LoopSummary[] {
    return [...this.#entries.values()].map(({ summary }) => summary).sort(byUrgency);
  }

  find(id: string): LoopSource | null {
    return this.#entries.get(id)?.source ?? null;
  }

  view(id: string): RunView | null {
    const entry = this.#entries.get(id);
    return entry === undefined ? null : this.#look(entry);
  }

  /** The figures of every run. An ended run is read once. */
  figures(): RunFigures[] {
    const entries = [...this.#entries.values()].sort((a, b) => byUrgency(a.summary, b.summary));
    return entries.flatMap((entry) => {
      const { id, status } = entry.summary;
      if (entry.figures !== null && !isLive(status)) return entry.figures;
      const view = this.#look(entry);
      if (view.source === 'timeline') return [];
      entry.figures = runFigures(id, view, this.#options.now());
      return entry.figures;
    });
  }

  /** Looks which loops there are. */
  list(): Promise<void> {
    // One after the other: an older list must not come after a newer one.
    this.#listing = this.#listing.catch(() => {}).then(() => this.#listNow());
    return this.#listing;
  }

  /** Looks for what is new in the journals of what goes on and of what is watched. */
  look(watched: ReadonlySet<string>): void {
    for (const [id, entry] of this.#entries) {
      const { life, journal } = entry.source;
      const isWatched = watched.has(id);
      // What has no journal was looked at when the list was made.
      if (journal !== null && (life !== 'dead' || isWatched)) this.#look(entry);
      else if (life === 'dead' && !isWatched) forget(entry);
    }
  }

  async #listNow(): Promise<void> {
    const { env, cwd } = this.#options;
    const { sources, warning, trouble } = await listSources(env, cwd, this.#options);
    const ids = new Set(sources.map(({ id }) => id));
    for (const source of sources) this.#meet(source);
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id);
    this.#warning = warning ?? this.#warning;
    this.trouble = trouble ?? this.#warning;
  }

  #meet(source: LoopSource): void {
    const before = this.#entries.get(source.id);
    if (before && before.source.journal === source.journal) {
      const next = { ...source, question: before.asks ? questionOf(this.#options.env, source) : null };
      const isChanged = source.worker !== null || !isDeepStrictEqual(next, before.source);
      before.source = next;
      if (isChanged) this.#look(before);
      return;
    }
    const summary = summarise(new RunView(source.name), source);
    const entry: Entry = { source, tail: null, folded: null, summary, figures: null, asks: false };
    this.#entries.set(source.id, entry);
    this.#look(entry);
    if (entry.source.life === 'dead') forget(entry);
  }

  #look(entry: Entry): RunView {
    const { env, now } = this.#options;
    const folded = follow(entry, env);
    const { source } = entry;
    if (source.kind === 'run') {
      entry.asks = folded.needs?.kind === 'answer';
      // Somebody may have resumed it since the list was made.
      const life = isOpen(folded) ? lifeOf(env, source.folder, folded.run) : source.life;
      entry.source = { ...source, life, question: entry.asks ? questionOf(env, source) : null };
    }
    const view = present(folded, entry.source, now());
    const summary = summarise(view, entry.source);
    if (!isDeepStrictEqual(summary, entry.summary)) Object.assign(entry, { summary, figures: null });
    return view;
  }
}

/** Ended runs are many; who wants to see one reads it again. */
function forget(entry: Entry): void {
  entry.folded = null;
  entry.tail = null;
}

function follow(entry: Entry, env: Environment): RunView {
  const { source } = entry;
  if (source.journal === null)
    return source.worker ? workerView(env, source.worker) : new RunView(source.name);
  entry.tail ??= tailJournal(source.journal);
  const { events, damaged, unknown, restarted } = entry.tail.read();
  const folded = restarted || entry.folded === null ? new RunView(source.run ?? source.name) : entry.folded;
  for (const event of events) addEvent(folded, event);
  folded.damaged += damaged;
  folded.unknown += unknown;
  entry.folded = folded;
  return folded;
}

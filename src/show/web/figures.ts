import { type RunFigures, runFigures } from '../stats/figures.ts';
import type { Library } from './library.ts';

/** Returns a function that gives the figures of every run. An ended run is read once. */
export function createFigures(library: Library, now: () => number): () => RunFigures[] {
  const known = new Map<string, { readonly revision: number; readonly row: RunFigures }>();
  return () =>
    library.summaries().flatMap(({ id, status }) => {
      const before = known.get(id);
      const revision = library.revisionOf(id);
      if (before?.revision === revision && (status === 'done' || status === 'failed' || status === 'stopped'))
        return [before.row];
      const view = library.view(id);
      if (view === null || view.source === 'timeline') return [];
      const row = runFigures(id, view, now());
      known.set(id, { revision: library.revisionOf(id), row });
      return [row];
    });
}

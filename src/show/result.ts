import { plural } from '../core/text.ts';
import { type RunView, rangeOf } from '../journal/run-view.ts';
import { countChanges } from '../os/git/git-diff.ts';

/** What a run changed, and the command that prints it; empty where git cannot tell. */
export type Result = { readonly changes: string; readonly diff: string };

export async function resultOf(cwd: string, view: RunView): Promise<Result> {
  const { from, to } = rangeOf(view, undefined);
  const changes = from === null ? null : await countChanges(cwd, from, to);
  if (from === null || changes === null) return { changes: '', diff: '' };
  const commits = view.iterations.reduce((sum, one) => sum + one.commits, 0);
  const range = to === null ? from.slice(0, 12) : `${from.slice(0, 12)}..${to.slice(0, 12)}`;
  if (from === to) return { changes: 'nothing changed', diff: '' };
  return { changes: `${changes}, ${plural(commits, 'commit')}`, diff: `git diff ${range}` };
}

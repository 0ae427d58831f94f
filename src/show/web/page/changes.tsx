import type { Diff } from '../../../os/git/git-diff.ts';
import { DiffView } from './diff-view.tsx';
import type { IterationProps } from './iteration-summary.tsx';
import { Answer, Choice, Note } from './parts.tsx';
import { api, isWholeRun } from './state.ts';

export function Changes({ loop, view, one }: IterationProps) {
  const isWhole = isWholeRun.value;
  const last = view.iterations.findLast(({ to }) => to !== null) ?? one;
  const shown = isWhole ? last : one;
  const scope = isWhole ? 'run' : 'iteration';
  const ask = (): Promise<Diff | null> =>
    isWhole ? api.changes(loop) : api.details(loop, one.index).then(({ changes }) => changes);
  return (
    <>
      <Choice
        name="Changes of"
        value={scope}
        options={[
          ['iteration', `Iteration ${one.iteration}`],
          ['run', 'Whole run'],
        ]}
        choose={(option) => (isWholeRun.value = option === 'run')}
      />
      <Answer
        of={`${scope} ${shown.index} ${shown.seq} ${shown.mark}`}
        ask={ask}
        show={(diff) =>
          diff === null ? (
            <Note
              text={view.source === 'timeline' ? 'What it changed is not known.' : 'Nothing was changed.'}
            />
          ) : (
            <DiffView
              key={`${scope} ${shown.index}`}
              diff={diff}
              readFile={(path) => api.file(loop, shown.index, path)}
              iteration={api.isLive && shown.to !== null ? shown.iteration : null}
            />
          )
        }
      />
    </>
  );
}

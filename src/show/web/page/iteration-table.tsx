import { type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import { duration, markNames, percent, tokens } from './format.ts';
import { select } from './state.ts';

type TableProps = { readonly view: RunView; readonly at: number };

const heads = ['Iteration', 'Outcome', 'Time', 'Tokens', 'Cost', 'Context', 'Guardrails', 'Commits', 'Files'];

/** The charts as numbers, for a screen reader and for those who want the exact figure. */
export function IterationTable({ view, at }: TableProps) {
  return (
    <div class="table-box iteration-table" tabIndex={0} role="group" aria-label="Figures of each iteration">
      <table class="grid">
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.iterations.map((one) => (
            <tr key={one.index}>
              <th scope="row">
                <button type="button" class="small-button" onClick={() => select(one.index)}>
                  {one.iteration}
                </button>
              </th>
              {cellsOf(one, at).map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellsOf(one: IterationView, at: number): (string | number)[] {
  const { agent, review, checks, waiting } = timeByKind(one, at);
  const { usage, context, guardrails, commits, filesChanged } = one;
  const passed = guardrails.filter(({ ok }) => ok).length;
  return [
    markNames[one.mark],
    duration(agent + review + checks + waiting),
    usage === null ? '–' : tokens(usage),
    usage?.costUsd === undefined ? '–' : formatCost(usage.costUsd),
    context?.window ? percent(context.tokens / context.window) : '–',
    guardrails.length === 0 ? '–' : `${passed} of ${guardrails.length}`,
    commits,
    filesChanged,
  ];
}

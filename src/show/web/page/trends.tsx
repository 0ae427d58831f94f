import { useSignal } from '@preact/signals';
import { figuresCsv, type RunFigures } from '../../stats/figures.ts';
import { formatCost } from '../../terminal/units.ts';
import { BarChart } from './bar-chart.tsx';
import { clock, duration, outcomeNames, percent } from './format.ts';
import { Answer, Card, Choice, Figure } from './parts.tsx';
import { api } from './state.ts';
import { countTicks, timeTicks } from './ticks.ts';
import { type Group, groupRows, reasonsOf, type Split, sumOf } from './trend-figures.ts';

/** All runs together: is it getting better, what does a task cost, what stands in the way. */
export function Trends() {
  return (
    <main class="trends" id="main">
      <h1>Trends</h1>
      <Answer of="figures" ask={() => api.figures()} show={(rows) => <Figures all={rows} />} />
    </main>
  );
}

const periods = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['all', 'All time'],
] as const;
const splits = [
  ['day', 'By day'],
  ['agent', 'By agent'],
  ['model', 'By model'],
] as const;

function Figures({ all }: { readonly all: readonly RunFigures[] }) {
  const period = useSignal<(typeof periods)[number][0]>('all');
  const split = useSignal<Split>('day');
  const since = period.value === 'all' ? 0 : Date.now() - Number(period.value) * 86_400_000;
  const rows = all.filter(({ startedAt }) => (startedAt ?? 0) >= since);
  const groups = groupRows(rows, split.value);
  return (
    <>
      <div class="toolbar">
        <Choice name="Period" options={periods} value={period.value} choose={(one) => (period.value = one)} />
        <Choice name="Group" options={splits} value={split.value} choose={(one) => (split.value = one)} />
        <span class="push" />
        <Download name="ralph-runs.csv" label="CSV" type="text/csv" text={() => figuresCsv(rows)} />
        <Download
          name="ralph-runs.json"
          label="JSON"
          type="application/json"
          text={() => JSON.stringify(rows, null, 2)}
        />
      </div>
      <Totals rows={rows} />
      <div class="two">
        <TrendCharts groups={groups} />
        <Reasons
          title="Claims rejected, and why"
          empty="No claim was rejected."
          reasons={reasonsOf(rows, ({ rejectedBy }) => Object.entries(rejectedBy))}
        />
        <Reasons
          title="Most failing guardrails"
          empty="No guardrail failed."
          reasons={reasonsOf(rows, ({ guardrails }) =>
            guardrails.map(({ command, failed }) => [command, failed] as const),
          )}
        />
      </div>
      <GroupTable groups={groups} />
      <RunTable rows={rows} />
    </>
  );
}

function TrendCharts({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <>
      <Card title="Accepted runs">
        <BarChart
          label="Share of ended runs that were accepted"
          groups={groups}
          value={({ rate }) => rate}
          format={percent}
          max={1}
          looks="good"
        />
      </Card>
      <Card title="Cost of an accepted task">
        <BarChart
          label="Cost of an accepted task"
          groups={groups}
          value={({ costEach }) => costEach}
          format={formatCost}
          looks="cost"
        />
      </Card>
      <Card title="Time of an accepted task">
        <BarChart
          label="Time of an accepted task"
          groups={groups}
          value={({ timeEach }) => timeEach}
          format={duration}
          ticks={timeTicks}
          looks="agent"
        />
      </Card>
      <Card title="Runs">
        <BarChart
          label="Number of runs"
          groups={groups}
          value={({ runs }) => runs}
          format={String}
          ticks={countTicks}
          looks="files"
        />
      </Card>
    </>
  );
}

function Totals({ rows }: { readonly rows: readonly RunFigures[] }) {
  const ended = rows.filter(({ outcome }) => outcome !== null);
  const accepted = ended.filter(({ outcome }) => outcome === 'PROMISE_ACCEPTED').length;
  const tasks = sumOf(rows, ({ acceptedTasks }) => acceptedTasks);
  const costs = rows.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = costs.reduce((sum, one) => sum + one, 0);
  const time = sumOf(rows, ({ elapsedMs }) => elapsedMs);
  return (
    <div class="totals">
      <Figure name="runs" value={String(rows.length)} />
      <Figure
        name="of ended runs accepted"
        value={ended.length === 0 ? '–' : percent(accepted / ended.length)}
      />
      <Figure name="tasks accepted" value={String(tasks)} />
      <Figure name="cost" value={costs.length === 0 ? 'not reported' : formatCost(cost)} />
      <Figure
        name="cost of an accepted task"
        value={tasks === 0 || costs.length === 0 ? '–' : formatCost(cost / tasks)}
      />
      <Figure name="time of an accepted task" value={tasks === 0 ? '–' : duration(time / tasks)} />
    </div>
  );
}

type ReasonsProps = {
  readonly title: string;
  readonly empty: string;
  readonly reasons: readonly (readonly [name: string, count: number])[];
};

function Reasons({ title, empty, reasons }: ReasonsProps) {
  const most = reasons[0]?.[1] ?? 1;
  return (
    <Card title={title} looks="reasons">
      {reasons.length === 0 && <p class="note">{empty}</p>}
      <ul>
        {reasons.slice(0, 8).map(([name, count]) => (
          <li>
            <code>{name}</code>
            <span class="meter" aria-hidden="true">
              <i style={{ width: `${(count / most) * 100}%` }} />
            </span>
            <b>{count}</b>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The charts as a table. */
function GroupTable({ groups }: { readonly groups: readonly Group[] }) {
  const heads = ['', 'Runs', 'Accepted', 'Cost', 'Cost of a task', 'Time of a task'];
  return (
    <Card title="In numbers">
      <div class="table-box" tabIndex={0} role="group" aria-label="Figures of each group">
        <table class="grid">
          <thead>
            <tr>
              {heads.map((head) => (
                <th scope="col">{head || 'Group'}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map(({ name, runs, rate, cost, costEach, timeEach }) => (
              <tr>
                <th scope="row">{name}</th>
                <td>{runs}</td>
                <td>{rate === null ? '–' : percent(rate)}</td>
                <td>{cost === null ? '–' : formatCost(cost)}</td>
                <td>{costEach === null ? '–' : formatCost(costEach)}</td>
                <td>{timeEach === null ? '–' : duration(timeEach)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** All runs, two of which can be chosen and compared. */
function RunTable({ rows }: { readonly rows: readonly RunFigures[] }) {
  const chosen = useSignal<readonly string[]>([]);
  const toggle = (id: string) => {
    const others = chosen.value.filter((one) => one !== id);
    chosen.value = others.length < chosen.value.length ? others : [...others, id].slice(-2);
  };
  const [first, second] = chosen.value;
  const link = first && second && `#/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}`;
  const beside = link ? (
    <a class="button primary" href={link}>
      Compare these two
    </a>
  ) : (
    <span class="note">choose two to compare them</span>
  );
  return (
    <Card title="Runs in detail" beside={beside}>
      <div class="table-box" tabIndex={0} role="group" aria-label="All runs">
        <table class="grid">
          <thead>
            <tr>
              {['Compare', 'Task', 'Outcome', 'Started', 'Agent', 'Iterations', 'Time', 'Cost'].map(
                (head) => (
                  <th scope="col">{head}</th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Compare ${row.title || row.id}`}
                    checked={chosen.value.includes(row.id)}
                    onClick={() => toggle(row.id)}
                  />
                </td>
                <th scope="row">
                  <a href={`#/loop/${encodeURIComponent(row.id)}`}>{row.title || row.id}</a>
                </th>
                <td>{row.outcome === null ? 'none' : outcomeNames[row.outcome]}</td>
                <td>{row.startedAt !== null && clock(row.startedAt)}</td>
                <td>{[row.agent, row.model].filter(Boolean).join(' · ')}</td>
                <td>{row.iterations}</td>
                <td>{duration(row.elapsedMs)}</td>
                <td>{row.costUsd === null ? '–' : formatCost(row.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

type DownloadProps = Readonly<Record<'name' | 'label' | 'type', string>> & { readonly text: () => string };

function Download({ name, label, type, text }: DownloadProps) {
  function save(): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text()], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  return (
    <button type="button" class="small-button" title={`Save ${name}`} onClick={save}>
      {label}
    </button>
  );
}

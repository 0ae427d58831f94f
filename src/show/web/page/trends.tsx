import { useSignal } from '@preact/signals';
import { figuresCsv, type RunFigures } from '../../stats/figures.ts';
import { formatCost } from '../../terminal/units.ts';
import { BarChart, type ChartProps } from './bar-chart.tsx';
import { clock, duration, outcomeNames, percent } from './format.ts';
import { Answer, Card, Choice, Figure, SmallButton, Table } from './parts.tsx';
import { api } from './state.ts';
import { countTicks, timeTicks } from './ticks.ts';
import { figuresOf, type Group, groupRows, reasonsOf, type Split } from './trend-figures.ts';

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
        {charts.map((chart) => (
          <Card title={chart.title}>
            <BarChart groups={groups} {...chart} />
          </Card>
        ))}
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

const charts: readonly Omit<ChartProps, 'groups'>[] = [
  {
    title: 'Accepted runs',
    label: 'Share of ended runs that were accepted',
    value: ({ rate }) => rate,
    format: percent,
    max: 1,
    looks: 'good',
  },
  { title: 'Cost of an accepted task', value: ({ costEach }) => costEach, format: formatCost, looks: 'cost' },
  {
    title: 'Time of an accepted task',
    value: ({ timeEach }) => timeEach,
    format: duration,
    ticks: timeTicks,
    looks: 'agent',
  },
  {
    title: 'Runs',
    label: 'Number of runs',
    value: ({ runs }) => runs,
    format: String,
    ticks: countTicks,
    looks: 'files',
  },
];

function Totals({ rows }: { readonly rows: readonly RunFigures[] }) {
  const { runs, rate, tasks, cost, costEach, timeEach } = figuresOf('', rows);
  return (
    <div class="totals">
      <Figure name="runs" value={String(runs)} />
      <Figure name="of ended runs accepted" value={shown(rate, percent)} />
      <Figure name="tasks accepted" value={String(tasks)} />
      <Figure name="cost" value={cost === null ? 'not reported' : formatCost(cost)} />
      <Figure name="cost of an accepted task" value={shown(costEach, formatCost)} />
      <Figure name="time of an accepted task" value={shown(timeEach, duration)} />
    </div>
  );
}

function shown(amount: number | null, format: (amount: number) => string): string {
  return amount === null ? '–' : format(amount);
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

function GroupTable({ groups }: { readonly groups: readonly Group[] }) {
  const rows = groups.map(({ name, runs, rate, cost, costEach, timeEach }) => [
    name,
    runs,
    shown(rate, percent),
    shown(cost, formatCost),
    shown(costEach, formatCost),
    shown(timeEach, duration),
  ]);
  const heads = ['Group', 'Runs', 'Accepted', 'Cost', 'Cost of a task', 'Time of a task'];
  return (
    <Card title="In numbers">
      <Table label="Figures of each group" heads={heads} rows={rows} />
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
      <Table
        label="All runs"
        heads={['Compare', 'Task', 'Outcome', 'Started', 'Agent', 'Iterations', 'Time', 'Cost']}
        nameAt={1}
        rows={rows.map(({ id, title, outcome, startedAt, agent, model, iterations, elapsedMs, costUsd }) => [
          <input
            type="checkbox"
            aria-label={`Compare ${title || id}`}
            checked={chosen.value.includes(id)}
            onClick={() => toggle(id)}
          />,
          <a href={`#/loop/${encodeURIComponent(id)}`}>{title || id}</a>,
          outcome === null ? 'none' : outcomeNames[outcome],
          startedAt !== null && clock(startedAt),
          [agent, model].filter(Boolean).join(' · '),
          iterations,
          duration(elapsedMs),
          shown(costUsd, formatCost),
        ])}
      />
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
  return <SmallButton text={label} title={`Save ${name}`} onClick={save} />;
}

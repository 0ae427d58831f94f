import type { RunFigures } from '../../stats/figures.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { clock, duration, outcomeNames } from './format.ts';
import { Answer, Card, Note, Table } from './parts.tsx';
import { api, compared } from './state.ts';

/** Two runs side by side, with what is better in the second. */
export function Compare() {
  return (
    <main id="main">
      <h1>Two runs side by side</h1>
      <Answer
        of={compared.value.join(' ')}
        ask={() => api.figures()}
        show={(rows) => {
          const [first, second] = compared.value.map((id) => rows.find((row) => row.id === id));
          return first && second ? (
            <Pair first={first} second={second} />
          ) : (
            <Note text="One of these runs is not there any more." />
          );
        }}
      />
    </main>
  );
}

type Amount = {
  readonly name: string;
  readonly value: (row: RunFigures) => number | null;
  readonly format: (value: number) => string;
  /** True if more is better; null if it is neither. */
  readonly isMoreBetter: boolean | null;
};

const failedChecks = ({ guardrails }: RunFigures) => guardrails.reduce((sum, { failed }) => sum + failed, 0);

const amounts: readonly Amount[] = [
  { name: 'Tasks accepted', value: (row) => row.acceptedTasks, format: String, isMoreBetter: true },
  { name: 'Iterations', value: (row) => row.iterations, format: String, isMoreBetter: false },
  { name: 'Time', value: (row) => row.elapsedMs, format: duration, isMoreBetter: false },
  { name: 'Time of the agent', value: (row) => row.time.agent, format: duration, isMoreBetter: false },
  { name: 'Time of checks', value: (row) => row.time.checks, format: duration, isMoreBetter: false },
  { name: 'Time of waiting', value: (row) => row.time.waiting, format: duration, isMoreBetter: false },
  { name: 'Cost', value: (row) => row.costUsd, format: formatCost, isMoreBetter: false },
  { name: 'Tokens', value: (row) => row.tokens, format: formatTokens, isMoreBetter: false },
  { name: 'Tool calls', value: (row) => row.toolCalls, format: String, isMoreBetter: null },
  { name: 'Claims rejected', value: (row) => row.claims.rejected, format: String, isMoreBetter: false },
  { name: 'Failed guardrails', value: failedChecks, format: String, isMoreBetter: false },
];

const facts: readonly (readonly [name: string, text: (row: RunFigures) => string])[] = [
  ['Outcome', ({ outcome }) => (outcome === null ? 'none' : outcomeNames[outcome])],
  ['Started', ({ startedAt }) => (startedAt === null ? '' : clock(startedAt))],
  ['Project', ({ project, branch }) => [project, branch].filter(Boolean).join(' · ')],
  ['Agent', ({ agent, model }) => [agent, model].filter(Boolean).join(' · ')],
];

type PairProps = Readonly<Record<'first' | 'second', RunFigures>>;

function Pair({ first, second }: PairProps) {
  const both = [first, second];
  const guardrails = new Set(both.flatMap((row) => row.guardrails.map(({ command }) => command)));
  const links = both.map(({ id, title }) => <a href={`#/loop/${encodeURIComponent(id)}`}>{title || id}</a>);
  const rows = [
    ...facts.map(([name, text]) => [name, ...both.map(text), '']),
    ...amounts.map((amount) => [
      amount.name,
      ...both.map((row) => shown(amount, row)),
      <Difference amount={amount} first={first} second={second} />,
    ]),
    ...[...guardrails].map((command) => [
      <code>{command}</code>,
      ...both.map((row) => passRate(row, command)),
      '',
    ]),
  ];
  return (
    <Card title="Figures">
      <Table
        label="Two runs compared"
        looks="grid compare"
        heads={['Figure', ...links, 'Difference']}
        rows={rows}
      />
    </Card>
  );
}

function shown({ value, format }: Amount, row: RunFigures): string {
  const amount = value(row);
  return amount === null ? 'not reported' : format(amount);
}

function passRate({ guardrails }: RunFigures, command: string): string {
  const own = guardrails.find((one) => one.command === command);
  return own === undefined ? '–' : `${own.passed} of ${own.passed + own.failed} passed`;
}

/** By how much the second differs, in the colour of better or worse. */
function Difference({ amount, first, second }: PairProps & { readonly amount: Amount }) {
  const [a, b] = [amount.value(first), amount.value(second)];
  if (a === null || b === null || a === b)
    return <span class="note">{a === b && a !== null ? 'the same' : '–'}</span>;
  const isBetter = amount.isMoreBetter === null ? null : b > a === amount.isMoreBetter;
  const share = a === 0 ? '' : ` (${b > a ? '+' : '−'}${Math.round((Math.abs(b - a) / a) * 100)} %)`;
  const words = `${b > a ? '+' : '−'}${amount.format(Math.abs(b - a))}${share}`;
  return <span class={isBetter === null ? '' : isBetter ? 'yes' : 'no'}>{words}</span>;
}

import { signal } from '@preact/signals';
import type { LoopSummary } from '../summarise.ts';
import type { Status } from '../summary.ts';
import { badgeOf, clock } from './format.ts';
import { now } from './state.ts';

/** The states that are shown; null shows all. */
export const group = signal<readonly Status[] | null>(null);
const words = signal('');
/** The value that was chosen in each list, by the list's name. */
const chosen = signal<Readonly<Record<string, string>>>({});

export function projectOf({ folder }: LoopSummary): string {
  return folder.split('/').at(-1) ?? '';
}

const lists: readonly (readonly [name: string, read: (loop: LoopSummary) => string])[] = [
  ['status', badgeOf],
  ['project', projectOf],
  ['agent', ({ agent }) => agent],
];

const spans = [
  ['1', 'last 24 hours'],
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
] as const;

export function clearFilters(): void {
  group.value = null;
  words.value = '';
  chosen.value = {};
}

/** Returns whether a loop fits all that was chosen and typed. */
export function fitsFilters(): (loop: LoopSummary) => boolean {
  const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const { time, ...values } = chosen.value;
  const since = time ? now.value - Number(time) * 86_400_000 : Number.NEGATIVE_INFINITY;
  return (loop) =>
    (group.value === null || group.value.includes(loop.status)) &&
    lists.every(([name, read]) => !values[name] || values[name] === read(loop)) &&
    (loop.startedAt ?? now.value) >= since &&
    parts.every((part) => textOf(loop).includes(part));
}

function textOf(loop: LoopSummary): string {
  const { name, title, agent, status, folder, branch, detail, startedAt } = loop;
  const date =
    startedAt === null ? '' : `${clock(startedAt)} ${new Date(startedAt).toISOString().slice(0, 10)}`;
  return `${name} ${title} ${agent} ${status} ${badgeOf(loop)} ${folder} ${branch} ${detail} ${date}`.toLowerCase();
}

export function Filters({ loops }: { readonly loops: readonly LoopSummary[] }) {
  return (
    <div class="filters" role="search" aria-label="Filters">
      {lists.map(([name, read]) => {
        const values = [...new Set(loops.map(read))].filter(Boolean).sort();
        return <List name={name} options={values.map((value) => [value, value])} />;
      })}
      <List name="time" options={spans} />
      <input
        class="filter"
        type="search"
        placeholder="Filter ( / )"
        aria-label="Filter loops"
        value={words.value}
        onInput={({ currentTarget }) => {
          words.value = currentTarget.value;
        }}
      />
    </div>
  );
}

type ListProps = {
  readonly name: string;
  readonly options: readonly (readonly [value: string, label: string])[];
};

function List({ name, options }: ListProps) {
  return (
    <select
      class="filter"
      aria-label={`Filter by ${name}`}
      value={chosen.value[name] ?? ''}
      onChange={({ currentTarget }) => {
        chosen.value = { ...chosen.value, [name]: currentTarget.value };
      }}
    >
      <option value="">{`Any ${name}`}</option>
      {options.map(([value, label]) => (
        <option value={value}>{label}</option>
      ))}
    </select>
  );
}

import { elapsedAt, isOpen, type RunView, skippedText } from '../../journal/run-view.ts';
import { firstLine } from '../terminal/narrate.ts';
import {
  contextText,
  iterationText,
  type LiveFigures,
  taskCount,
  tokensText,
  usageNow,
} from '../terminal/status-line.ts';
import type { Style } from '../terminal/style.ts';
import { costText, formatSeconds } from '../terminal/units.ts';
import { cutTo, fitTo, widthOf } from '../terminal/width.ts';
import { keyHelp, type WatchState } from './keys.ts';
import {
  barParts,
  evidencePane,
  guardrailPane,
  guardrailsOf,
  nowPane,
  type PaneOptions,
  taskPane,
  textPane,
  timelinePane,
} from './panes.ts';

export type WatchView = {
  readonly loop: RunView;
  readonly live: LiveFigures;
  readonly isAlive: boolean;
  readonly output: string;
  readonly log: { readonly title: string; readonly text: string } | null;
  readonly state: WatchState;
};

type Pane = { readonly title: string; readonly lines: (options: PaneOptions) => string[] };

const wideFrom = 110;

/** Returns the whole screen: as many lines as there are rows, none wider than the columns. */
export function layoutWatch(view: WatchView, options: PaneOptions): string[] {
  const { columns, rows, style } = options;
  if (rows < 6 || columns < 20) return pad([cutTo('The window is too small.', columns)], rows);
  const head = [headLine(view, options), figuresLine(view, options)];
  const body = rows - head.length - 1;
  const lines = view.state.help
    ? helpLines(style).map((line) => cutTo(line, columns, style.symbol('more')))
    : columns < wideFrom
      ? narrow(view, body, options)
      : wide(view, body, options);
  return [...head, ...pad(lines, body), footLine(view, options)];
}

/** Puts one pane below the other; the output takes the remaining rows. */
function narrow(view: WatchView, body: number, options: PaneOptions): string[] {
  const panes = panesOf(view);
  const { iterations } = view.loop;
  const guardrails = guardrailsOf(view.loop);
  const failing = guardrails.filter(({ isFailing }) => isFailing).length;
  const rooms = share(body, [
    { pane: panes.timeline, wants: Math.max(1, iterations.length), most: Math.max(2, Math.floor(body / 4)) },
    { pane: panes.now, wants: isOver(view.loop) ? 4 : 2, most: Math.max(2, Math.floor(body / 5)) },
    { pane: panes.guardrails, wants: guardrails.length, most: Math.max(failing + 1, Math.floor(body / 8)) },
    { pane: panes.tasks, wants: taskCount(view.loop).all, most: Math.max(1, Math.floor(body / 5)) },
  ]);
  const usedRows = rooms.reduce((sum, { rows }) => sum + rows + 1, 0);
  return [...rooms, { pane: panes.large, rows: body - usedRows - 1 }].flatMap(({ pane, rows }) =>
    box(pane, rows, options),
  );
}

/** Puts the timeline and the output on the left, the state on the right. */
function wide(view: WatchView, body: number, options: PaneOptions): string[] {
  const panes = panesOf(view);
  const left = Math.floor(options.columns * 0.62);
  const right = options.columns - left - 3;
  const timeline = Math.min(Math.max(1, view.loop.iterations.length), Math.floor(body * 0.4));
  const story = [
    ...box(panes.timeline, timeline, { ...options, columns: left }),
    ...box(panes.large, body - timeline - 2, { ...options, columns: left }),
  ];
  const guardrails = Math.min(Math.max(1, guardrailsOf(view.loop).length), Math.floor(body / 4));
  const tasks = Math.max(1, body - guardrails - 4 - 3);
  const standing = [
    ...box(panes.now, 4, { ...options, columns: right }),
    ...box(panes.guardrails, guardrails, { ...options, columns: right }),
    ...box(panes.tasks, tasks, { ...options, columns: right }),
  ];
  const between = options.style.dim(options.style.emoji ? ' │ ' : ' | ');
  return pad(story, body).map((line, row) => `${fitTo(line, left)}${between}${standing[row] ?? ''}`);
}

function panesOf(view: WatchView) {
  const { loop, state, isAlive, output, log } = view;
  const selected = state.selected ?? Math.max(0, loop.iterations.length - 1);
  const one = loop.iterations[selected];
  const number = one === undefined ? '' : ` of iteration ${one.iteration}`;
  const large: Record<WatchState['pane'], Pane> = {
    output: { title: `Output${number}`, lines: (options) => textPane(output, options) },
    evidence: { title: `Evidence${number}`, lines: (options) => evidencePane(one, state.scroll, options) },
    log: {
      title: log === null ? `Log${number}` : `Log: ${firstLine(log.title)}`,
      lines: (options) => textPane(log?.text ?? 'No guardrail has run in this iteration.', options),
    },
  };
  const tasks = loop.stories.length > 0 ? 'Stories' : 'Todo';
  const { done, all } = taskCount(loop);
  return {
    timeline: { title: 'Timeline', lines: (options) => timelinePane(loop, selected, options) },
    now: { title: 'Now', lines: (options) => nowPane(loop, isAlive, options) },
    guardrails: { title: 'Guardrails', lines: (options) => guardrailPane(loop, options) },
    tasks: {
      title: all === 0 ? tasks : `${tasks} ${done}/${all}`,
      lines: (options) => taskPane(loop, options),
    },
    large: large[state.pane],
  } satisfies Record<string, Pane>;
}

/** Returns the rows for each pane that has something to show. */
function share(body: number, wishes: readonly { pane: Pane; wants: number; most: number }[]) {
  // The large pane keeps four lines.
  let free = body - 5;
  return wishes.flatMap(({ pane, wants, most }) => {
    const rows = Math.min(wants, most, free - 1);
    if (rows < 1) return [];
    free -= rows + 1;
    return [{ pane, rows }];
  });
}

function box({ title, lines }: Pane, rows: number, options: PaneOptions): string[] {
  if (rows < 1) return [];
  const { style, columns } = options;
  const rule = style.emoji ? '─' : '-';
  const head = `${rule} ${cutTo(title, columns - 4)} `;
  return [
    style.dim(head + rule.repeat(Math.max(0, columns - widthOf(head)))),
    ...pad(
      lines({ ...options, rows }).map((line) => cutTo(line, columns, style.symbol('more'))),
      rows,
    ),
  ];
}

function headLine({ loop, isAlive }: WatchView, { style, columns, now }: PaneOptions): string {
  const right = `${iterationText(loop)}  ${formatSeconds(elapsedAt(loop, isAlive ? now : 0))}`;
  const left = `${style.bold('ralph watch')} ${firstLine(loop.run)} ${loop.agent ?? ''} ${stateText(loop, isAlive, style)}`;
  return `${fitTo(left, columns - widthOf(right) - 1)} ${style.bold(right)}`;
}

function stateText({ state, outcome, needs }: RunView, isAlive: boolean, style: Style): string {
  if (outcome === 'PROMISE_ACCEPTED') return style.green(outcome);
  if (needs !== null) return style.red(outcome ?? state);
  if (outcome !== null) return style.yellow(outcome);
  if (!isAlive && state !== 'yielded') return style.red('died');
  return state === 'waiting' || state === 'yielded' ? style.yellow('waiting') : style.cyan('running');
}

function figuresLine({ loop, live }: WatchView, { style, columns }: PaneOptions): string {
  const usage = usageNow(loop, live);
  const { accepted, rejected } = loop.claims;
  const budget = loop.limits?.costUsd;
  const cost = costText(usage);
  const context = live.context ?? loop.iterations.findLast((one) => one.context !== null)?.context ?? null;
  const parts = [
    tokensText(usage, style),
    cost === '' || budget == null ? cost : `${cost} of $${budget}`,
    contextText(context),
    accepted + rejected === 0 ? '' : `claims: ${accepted} accepted, ${rejected} rejected`,
    style.red(skippedText(loop) ?? ''),
  ].filter((part) => part !== '');
  return cutTo(parts.join(style.emoji ? ' · ' : ' | '), columns, style.symbol('more'));
}

function footLine({ state, loop }: WatchView, { style, columns }: PaneOptions): string {
  const keys = '? help  q quit  ↑↓ iteration  o output  e evidence  l log';
  const command = state.pane === 'evidence' ? `= ralph verdict ${loop.run}` : '';
  const plain = style.emoji ? keys : keys.replace('↑↓', 'j k');
  const room = columns - widthOf(plain) - 2;
  const line = command.length <= room ? `${plain}${' '.repeat(room - command.length + 2)}${command}` : plain;
  return style.dim(cutTo(line, columns, style.symbol('more')));
}

function helpLines(style: Style): string[] {
  const plain = (text: string) => (style.emoji ? text : text.replaceAll('↑', 'up').replaceAll('↓', 'down'));
  return [
    '',
    ...keyHelp.map(([key, meaning]) => `  ${style.bold(fitTo(plain(key), 14))} ${meaning}`),
    '',
    `  Time in the timeline: ${barParts.map(([kind, sign, ascii]) => `${style.emoji ? sign : ascii} ${kind}`).join('  ')}`,
    '  The screen only reads the journal: quitting changes nothing about the loop.',
    '  From another terminal: ralph note "..." tells the agent something,',
    '  ralph pause lets the loop wait, ralph stop ends it.',
  ];
}

function isOver(loop: RunView): boolean {
  return !isOpen(loop) && loop.state !== 'yielded';
}

function pad(lines: readonly string[], rows: number): string[] {
  return Array.from({ length: Math.max(0, rows) }, (_, row) => lines[row] ?? '');
}

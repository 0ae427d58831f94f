import { type CheckView, type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import type { IterationDetails } from '../details.ts';
import type { Api } from './api.ts';
import { diffView } from './diff-view.ts';
import { button, fill, h, note, table } from './dom.ts';
import { clock, duration, markNames, plural } from './format.ts';
import { markIcon } from './marks.ts';

type Tab = 'summary' | 'changes' | 'tools' | 'prompt';

/** All about the iteration that is chosen. */
export type IterationPanel = {
  readonly element: HTMLElement;
  show(view: RunView, one: IterationView, now: number): void;
  openCheck(command: string): void;
};

export function createPanel(api: Api, loop: string): IterationPanel {
  const title = h('h2');
  const tabs = h('div', { class: 'tabs', attrs: { role: 'tablist', 'aria-label': 'About this iteration' } });
  const body = h('div', {
    class: 'tab-body',
    attrs: { role: 'tabpanel', id: 'iteration-body', tabindex: 0 },
  });
  const element = h(
    'section',
    { class: 'card panel', attrs: { 'aria-label': 'The chosen iteration' } },
    h('header', {}, title, tabs),
    body,
  );
  let tab: Tab = 'summary';
  let view: RunView | null = null;
  let one: IterationView | null = null;
  let now = 0;
  let drawn = '';
  let openLog: string | null = null;

  function draw(): void {
    if (one === null || view === null) return;
    const key = `${tab} ${one.index} ${one.seq} ${one.mark} ${openLog}`;
    if (key === drawn) return;
    drawn = key;
    fill(title, markIcon(one.mark), `Iteration ${one.iteration}: ${markNames[one.mark]}`);
    const names: [Tab, string][] = [
      ['summary', 'Summary'],
      ['changes', 'Changes'],
      ['tools', `Tools (${one.toolCalls ?? '?'})`],
      ['prompt', 'Prompt'],
    ];
    const focused = tabs.contains(document.activeElement);
    fill(tabs, ...names.map(([name, text]) => tabButton(name, text)));
    if (focused) tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
    const current = one;
    const shown = view;
    switch (tab) {
      case 'summary':
        fill(
          body,
          summary(current, view, now, openLog, (command) => {
            openLog = openLog === command ? null : command;
            draw();
          }),
        );
        if (openLog !== null) showLog(current, openLog);
        return;
      case 'changes':
        ask((details) => fill(body, changes(current, shown, details)));
        return;
      case 'tools':
        fill(body, toolTable(current));
        return;
      case 'prompt':
        ask(({ prompt }) =>
          fill(
            body,
            h('pre', { class: 'text', text: prompt ?? current.promptStart, attrs: { tabindex: 0 } }),
          ),
        );
        return;
    }
  }

  function tabButton(name: Tab, text: string): HTMLElement {
    return button(text, () => choose(name), {
      attrs: {
        role: 'tab',
        'aria-selected': String(tab === name),
        'aria-controls': 'iteration-body',
        tabindex: tab === name ? 0 : -1,
      },
      on: {
        keydown: (event) => {
          const all: Tab[] = ['summary', 'changes', 'tools', 'prompt'];
          const step =
            event instanceof KeyboardEvent ? { ArrowRight: 1, ArrowLeft: 3 }[event.key] : undefined;
          const next = step === undefined ? undefined : all[(all.indexOf(tab) + step) % all.length];
          if (next === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          choose(next);
        },
      },
    });
  }

  function choose(name: Tab): void {
    tab = name;
    draw();
  }

  function ask(use: (details: IterationDetails) => void): void {
    if (one === null) return;
    const wanted = drawn;
    fill(body, note('One moment…'));
    api.details(loop, one.index).then(
      (details) => wanted === drawn && use(details),
      (error: Error) => wanted === drawn && fill(body, note(error.message)),
    );
  }

  function showLog(current: IterationView, command: string): void {
    const kind = current.guardrails.some((check) => check.command === command) ? 'guardrail' : 'verify';
    const list = kind === 'guardrail' ? current.guardrails : current.verify;
    const index = list.findLastIndex((check) => check.command === command);
    const place = body.querySelector('.log');
    if (place === null || index === -1) return;
    const wanted = drawn;
    api.log(loop, current.index, `${kind}-${index}`).then(
      (log) => {
        if (wanted !== drawn) return;
        const words = {
          missing: 'There is no output any more.',
          replaced: 'A later run has written over this output.',
        };
        const text = log.kind === 'text' ? log.text || '(it printed nothing)' : words[log.kind];
        fill(
          place,
          h('pre', { class: 'text', text, attrs: { tabindex: 0, 'aria-label': `Output of ${command}` } }),
        );
      },
      (error: Error) => fill(place, note(error.message)),
    );
  }

  return {
    element,
    show(nextView, next, at) {
      now = at;
      if (one?.index !== next.index) openLog = null;
      view = nextView;
      one = next;
      draw();
    },
    openCheck(command) {
      tab = 'summary';
      openLog = command;
      drawn = '';
      draw();
      element.scrollIntoView({ block: 'nearest' });
    },
  };
}

function summary(
  one: IterationView,
  view: RunView,
  now: number,
  openLog: string | null,
  toggle: (command: string) => void,
): HTMLElement {
  const { usage, context, decision, verdict } = one;
  const time = timeByKind(one, now);
  const facts: (readonly [string, string] | null)[] = [
    ['Started', clock(one.startedAt)],
    ['Agent', duration(time.agent + time.review)],
    time.checks > 0 ? ['Checks', duration(time.checks)] : null,
    time.waiting > 0 ? ['Waited', duration(time.waiting)] : null,
    one.end !== null && one.end !== 'finished'
      ? ['Turn ended', one.error ? `${one.end}: ${one.error}` : one.end]
      : null,
    ['Tool calls', one.toolCalls === null ? 'not reported' : `${one.toolCalls}, ${one.toolErrors} failed`],
    usage
      ? [
          'Tokens',
          `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, ${formatTokens(usage.cacheReadTokens)} from cache, ${formatTokens(usage.cacheWriteTokens)} to cache`,
        ]
      : null,
    usage?.costUsd === undefined
      ? null
      : ['Cost', `${formatCost(usage.costUsd)} ${usage.estimated ? 'estimated' : 'reported'}`],
    context === null
      ? null
      : [
          'Context',
          context.window === null
            ? `${formatTokens(context.tokens)}, window unknown`
            : `${Math.round((context.tokens / context.window) * 100)} % of ${formatTokens(context.window)}`,
        ],
    ['Changes', changesOf(one, view)],
    one.prd ? ['Story', `${one.prd.story ?? 'none'} (${one.prd.mode})`] : null,
    decision ? ['Decision', `${decision.kind}: ${decision.because.text}`] : null,
  ];
  return h(
    'div',
    { class: 'summary' },
    h(
      'dl',
      {},
      ...facts.flatMap((fact) =>
        fact === null ? [] : [h('dt', { text: fact[0] }), h('dd', { text: fact[1] })],
      ),
    ),
    h(
      'div',
      {},
      verdict &&
        h(
          'div',
          { class: `verdict ${verdict.accepted ? 'yes' : 'no'}` },
          h('b', { text: verdict.accepted ? 'Claim accepted' : 'Claim rejected' }),
          h('p', { text: verdict.because }),
          h(
            'ul',
            {},
            ...verdict.evidence.map(({ check, ok, detail }) =>
              h('li', { class: ok ? 'yes' : 'no', text: `${ok ? '✓' : '✗'} ${check}: ${detail}` }),
            ),
          ),
        ),
      ...(one.prd?.problems ?? []).map((text) =>
        h('p', { class: 'verdict no', text: `Undone in the task list: ${text}` }),
      ),
      checkList(one, openLog, toggle),
      one.index === view.iterations.length - 1 && view.todo.length > 0 && todoList(view),
      one.text !== '' &&
        h(
          'div',
          { class: 'said' },
          h('h3', { text: 'The agent said' }),
          h('pre', { class: 'text', text: one.text.trim(), attrs: { tabindex: 0 } }),
        ),
    ),
  );
}

function checkList(
  one: IterationView,
  openLog: string | null,
  toggle: (command: string) => void,
): HTMLElement | null {
  const checks = [...one.guardrails, ...one.verify];
  if (checks.length === 0) return null;
  return h(
    'div',
    { class: 'checks-list' },
    h('h3', { text: 'Checks' }),
    h(
      'ul',
      {},
      ...checks.map((check) =>
        h('li', { class: check.ok ? 'yes' : 'no' }, ...checkLine(check, openLog, toggle)),
      ),
    ),
    openLog !== null && h('div', { class: 'log' }),
  );
}

function checkLine(
  check: CheckView,
  openLog: string | null,
  toggle: (command: string) => void,
): HTMLElement[] {
  const state = check.ok === null ? '…' : check.ok ? '✓' : '✗';
  const how = check.ok === null ? 'running' : check.timedOut ? 'timed out' : `exit ${check.exitCode ?? '?'}`;
  return [
    h('span', { class: 'state', text: state }),
    h('code', { text: check.command }),
    h('span', { class: 'note', text: check.ms === null ? how : `${how}, ${duration(check.ms)}` }),
    button(openLog === check.command ? 'Hide output' : 'Output', () => toggle(check.command), {
      class: 'small-button',
      attrs: { 'aria-expanded': String(openLog === check.command) },
    }),
  ];
}

function todoList({ todo }: RunView): HTMLElement {
  const signs = { done: '✓', active: '▸', pending: '○' };
  return h(
    'div',
    { class: 'todo' },
    h('h3', { text: "The agent's list" }),
    h(
      'ul',
      {},
      ...todo.map(({ text, status }) => h('li', { class: status, text: `${signs[status]} ${text}` })),
    ),
  );
}

function toolTable({ tools, toolCalls }: IterationView): HTMLElement {
  if (tools.length === 0) return note('No tool calls.');
  const rows = tools.map(({ name, summary, ok, ms }) => [
    h('td', { class: ok === false ? 'no' : 'yes', text: ok === null ? '…' : ok ? '✓' : '✗' }),
    h('td', { text: name }),
    h('td', {}, h('code', { text: summary })),
    h('td', { class: 'number', text: ms === null ? '' : duration(ms) }),
  ]);
  const isCut = toolCalls !== null && toolCalls > tools.length;
  return h(
    'div',
    {},
    isCut && note(`The last ${tools.length} of ${toolCalls} calls.`),
    table('tools', ['Result', 'Tool', 'What', 'Time'], rows),
  );
}

function changesOf({ commits, filesChanged }: IterationView, { source }: RunView): string {
  if (source === 'timeline') return 'not known';
  return `${plural(commits, 'commit')}, ${plural(filesChanged, 'file')} changed`;
}

function changes(
  one: IterationView,
  { source }: RunView,
  { committed, uncommitted }: IterationDetails,
): HTMLElement {
  const nothing = committed === null && uncommitted === null && one.files.length === 0;
  return h(
    'div',
    {},
    committed && diffView(committed, 'Committed'),
    uncommitted && diffView(uncommitted, 'Not committed, as it is now'),
    one.files.length > 0 &&
      uncommitted === null &&
      h(
        'div',
        { class: 'left-files' },
        note(
          'Changed in this iteration and not committed by its end; what they looked like then is not kept:',
        ),
        h('ul', {}, ...one.files.map((file) => h('li', {}, h('code', { text: file })))),
      ),
    nothing && note(source === 'timeline' ? 'What it changed is not known.' : 'Nothing was changed.'),
  );
}

import { type Outcome, outcomes } from '../../../core/outcome.ts';
import type { RunView } from '../../../journal/run-view.ts';
import type { LoopSummary } from '../summary.ts';
import { button, h, table } from './dom.ts';
import { markIcon } from './marks.ts';

/** How it ended, what was shown for it, and what to type next: the first thing to see of a loop that is over. */
export function stopCard(view: RunView, summary: LoopSummary | undefined): HTMLElement | null {
  const status = summary?.status;
  if (status === 'running' || status === 'waiting' || status === 'paused') return null;
  const { outcome } = view;
  const command = summary?.next ?? null;
  const tone =
    outcome === 'PROMISE_ACCEPTED' || view.exitCode === 0
      ? 'good'
      : status === 'needs-you'
        ? 'ask'
        : outcome
          ? toneOf(outcome)
          : 'bad';
  const mark = { good: 'accepted', ask: 'needs-person', calm: 'stopped', bad: 'failed' } as const;
  return h(
    'section',
    { class: `card stop ${tone}`, attrs: { 'aria-label': 'How it ended' } },
    h(
      'div',
      { class: 'stop-head' },
      markIcon(mark[tone]),
      h(
        'div',
        {},
        h('h2', { text: headline(view, summary) }),
        h('p', { class: 'why', text: view.because ?? summary?.detail ?? '' }),
      ),
    ),
    evidenceTable(view),
    command !== null &&
      h(
        'p',
        { class: 'next' },
        h('span', { text: 'Next' }),
        h('code', { text: command }),
        button('Copy', () => void navigator.clipboard?.writeText(command), { class: 'small-button' }),
      ),
  );
}

function headline({ outcome, exitCode }: RunView, summary: LoopSummary | undefined): string {
  if (outcome === 'MAX_ITERATIONS_REACHED' && exitCode === 0)
    return 'Complete: all its iterations have run, and there was nothing else to reach';
  if (outcome !== null) {
    const { meaning } = outcomes[outcome];
    return meaning.charAt(0).toUpperCase() + meaning.slice(1);
  }
  if (summary?.status === 'needs-you') return 'It waits for you';
  return 'Its process died before it came to an end';
}

function toneOf(outcome: Outcome): 'calm' | 'bad' {
  return outcome === 'CANCELLED' || outcome === 'INTERRUPTED' ? 'calm' : 'bad';
}

/** The evidence of the last claim. */
function evidenceTable({ iterations }: RunView): HTMLElement | null {
  const judged = iterations.findLast(({ verdict }) => verdict !== null);
  if (!judged?.verdict) return null;
  const rows = judged.verdict.evidence.map(({ check, ok, detail }) => [
    h('td', {
      class: ok ? 'yes' : 'no',
      text: ok ? '✓' : '✗',
      attrs: { 'aria-label': ok ? 'passed' : 'failed' },
    }),
    h('td', { text: check }),
    h('td', { text: detail }),
  ]);
  const evidence = table('evidence', ['Result', 'Check', 'Found'], rows);
  evidence.prepend(h('caption', { text: `Evidence for the claim of iteration ${judged.iteration}` }));
  return evidence;
}

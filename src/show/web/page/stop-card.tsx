import { outcomes } from '../../../core/outcome.ts';
import type { RunView } from '../../../journal/run-view.ts';
import type { LoopSummary, Status } from '../summary.ts';
import { MarkIcon } from './marks.tsx';
import { Results } from './parts.tsx';

type StopCardProps = { readonly view: RunView; readonly summary: LoopSummary | undefined };

const marks = { good: 'accepted', ask: 'needs-person', calm: 'stopped', bad: 'failed' } as const;

/** How it ended, what was shown for it, and what to type next: the first thing to see of a loop that is over. */
export function StopCard({ view, summary }: StopCardProps) {
  const status = summary?.status;
  if (status === 'running' || status === 'waiting' || status === 'paused') return null;
  if (status === undefined && view.outcome === null) return null;
  const tone = toneOf(view, status);
  const next = summary?.next ?? null;
  return (
    <section class={`card stop ${tone}`} aria-label="How it ended">
      <div class="stop-head">
        <MarkIcon mark={marks[tone]} />
        <div>
          <h2>{headline(view, status)}</h2>
          <p class="why">{view.because ?? summary?.detail}</p>
        </div>
      </div>
      <EvidenceTable {...view} />
      {next !== null && (
        <p class="next">
          <span>Next</span>
          <code>{next}</code>
          <button type="button" class="small-button" onClick={() => navigator.clipboard?.writeText(next)}>
            Copy
          </button>
        </p>
      )}
    </section>
  );
}

function toneOf({ outcome, exitCode }: RunView, status: Status | undefined): keyof typeof marks {
  if (outcome === 'PROMISE_ACCEPTED' || exitCode === 0) return 'good';
  if (status === 'needs-you') return 'ask';
  return outcome === 'CANCELLED' || outcome === 'INTERRUPTED' ? 'calm' : 'bad';
}

function headline({ outcome, exitCode }: RunView, status: Status | undefined): string {
  if (outcome === 'MAX_ITERATIONS_REACHED' && exitCode === 0)
    return 'Complete: all its iterations have run, and there was nothing else to reach';
  if (outcome !== null) {
    const { meaning } = outcomes[outcome];
    return meaning.charAt(0).toUpperCase() + meaning.slice(1);
  }
  return status === 'needs-you' ? 'It waits for you' : 'Its process died before it came to an end';
}

/** The evidence of the last claim. */
function EvidenceTable({ iterations }: RunView) {
  const judged = iterations.findLast(({ verdict }) => verdict !== null);
  if (!judged?.verdict) return null;
  const rows = judged.verdict.evidence.map(({ check, detail, ...result }) => ({
    ...result,
    cells: [check, detail],
  }));
  const caption = `Evidence for the claim of iteration ${judged.iteration}`;
  return <Results looks="evidence" heads={['Check', 'Found']} caption={caption} rows={rows} />;
}

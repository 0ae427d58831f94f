import { limitOfReason } from '../../../core/limit-words.ts';
import { outcomes } from '../../../core/outcome.ts';
import { plural } from '../../../core/text.ts';
import { elapsedAt, type RunView } from '../../../journal/run-view.ts';
import type { LoopSummary } from '../summarise.ts';
import { isLive, type Status } from '../summary.ts';
import { capital, cost, duration } from './format.ts';
import { MarkIcon } from './marks.tsx';
import { Answer, Command, Evidence, Facts, SmallButton } from './parts.tsx';
import { api, isWholeRun, tab, viewEnd } from './state.ts';

type StopCardProps = {
  readonly loop: string;
  readonly view: RunView;
  readonly summary: LoopSummary | undefined;
};

const marks = { good: 'accepted', ask: 'needs-person', calm: 'stopped', bad: 'failed' } as const;

/** How it ended, what was shown for it, and what to type next: the first thing to see of a loop that is over. */
export function StopCard({ loop, view, summary }: StopCardProps) {
  const status = summary?.status;
  if (!hasStopCard(view, summary)) return null;
  const tone = toneOf(view, status);
  const next = summary?.next ?? null;
  const judged = judgedLast(view);
  const why = judged?.verdict?.accepted ? '' : (view.because ?? summary?.detail);
  return (
    <section class={`card stop ${tone}`} aria-label="How it ended">
      <div class="stop-head">
        <MarkIcon mark={limitOfReason(view.becauseCode)?.mark ?? marks[tone]} />
        <div>
          <h2>{headline(view, status)}</h2>
          <p class="why">{why}</p>
        </div>
      </div>
      <Answer
        of={`${loop} ${view.seq}`}
        ask={() => api.result(loop)}
        show={({ changes, diff }) => (
          <>
            <Facts
              facts={[
                ['Changed', changes],
                ['Cost', cost(view.usage)],
                [
                  'Time',
                  `${duration(elapsedAt(view, viewEnd.value))}, ${plural(view.iteration, 'iteration')}`,
                ],
              ]}
            />
            {diff !== '' && (
              <Command name="Diff" command={diff}>
                <SmallButton text="See all changes" looks="primary" onClick={showChanges} />
              </Command>
            )}
          </>
        )}
      />
      {next !== null && <Command name="Next" command={next} />}
      {judged?.verdict && (
        <Evidence {...judged.verdict} caption={`Evidence for the claim of iteration ${judged.iteration}`} />
      )}
    </section>
  );
}

/** True if a loop is over or waits for a person, and is more than a command. */
export function hasStopCard({ outcome }: RunView, summary: LoopSummary | undefined): boolean {
  if (summary === undefined) return outcome !== null;
  return !summary.isCommand && (!isLive(summary.status) || summary.status === 'needs-you');
}

/** The iteration whose evidence the stop card shows. */
export function judgedLast({ iterations }: RunView) {
  return iterations.findLast(({ verdict }) => verdict !== null);
}

function showChanges(): void {
  isWholeRun.value = true;
  tab.value = 'changes';
  requestAnimationFrame(() => document.querySelector('.panel')?.scrollIntoView());
}

function toneOf({ outcome, exitCode }: RunView, status: Status | undefined): keyof typeof marks {
  if (outcome === 'PROMISE_ACCEPTED' || exitCode === 0) return 'good';
  if (status === 'needs-you') return 'ask';
  return outcome === 'CANCELLED' || outcome === 'INTERRUPTED' ? 'calm' : 'bad';
}

function headline({ outcome, exitCode, becauseCode }: RunView, status: Status | undefined): string {
  if (outcome === 'MAX_ITERATIONS_REACHED' && exitCode === 0)
    return 'Complete: all its iterations have run, and there was nothing else to reach';
  if (outcome !== null) return capital(limitOfReason(becauseCode)?.text ?? outcomes[outcome].meaning);
  return status === 'needs-you' ? 'It waits for you' : 'Its process died before it came to an end';
}

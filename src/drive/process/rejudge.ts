import { createTurnReader, type StreamedTurn } from '../../agents/turn.ts';
import { runPaths } from '../../config/paths.ts';
import { decide, newLoop } from '../../core/decide.ts';
import type { Evidence, Verdict } from '../../core/loop.ts';
import { compilePattern } from '../../core/pattern.ts';
import type { Turn } from '../../core/turn.ts';
import type { EventOf, JournalEvent } from '../../journal/events.ts';
import { last } from '../../journal/runs.ts';
import { readLines } from '../../os/process/read-lines.ts';
import { type Attempt, attemptsOf, streamOf, unreadable } from './attempts.ts';

/** Result of an iteration: the verdict on a claim, a call for a human, or neither. */
export type Judgement = Verdict & { readonly claim: 'done' | 'blocked' | 'decide' | 'none' };

/** An iteration as it was judged, and as it would be judged now. */
export type Rejudged = {
  readonly iteration: number;
  /** Null if the run was killed before the judgement. */
  readonly recorded: Judgement | null;
  /** Null if the agent's stream or the record of its end is missing. */
  readonly now: (Judgement & { readonly same: boolean }) | null;
};

/** Checks of the turn itself; all others were made outside and cannot be repeated. */
const foundInTurn = new Set(['turn', 'tool-calls', 'work']);

/**
 * Judges a recorded run again: the agent's streams are read anew, what was checked outside is taken as recorded. A loop
 * inside a session has no streams, and its turns are judged by their words in the journal: all of those below `textLimit`.
 */
export function rejudge(
  cwd: string,
  run: string,
  events: readonly JournalEvent[],
  textLimit: number | null = null,
): Rejudged[] {
  const started = last(events, 'run.started');
  if (!started) throw unreadable(run, 'its journal does not tell how it started');
  const attempts = attemptsOf(events, started, textLimit !== null);
  const results: Rejudged[] = [];
  let loop = newLoop(started.plan, started.task);
  for (const attempt of attempts) {
    const { iteration, plan } = attempt;
    const recorded = recordedJudgement(attempt);
    const ended = last(attempt.events, 'agent.ended');
    if (!recorded || !ended) {
      results.push({ iteration, recorded, now: null });
      continue;
    }
    const streamed =
      textLimit === null
        ? readStream(streamOf(attempt, attempts, runPaths(cwd, run).stream(iteration)), attempt, ended)
        : null;
    const isKnown = textLimit === null ? streamed !== null : ended.text.length < textLimit;
    const turn = turnOf(attempt, ended, streamed);
    const decided = decide({ ...loop, plan, iteration }, turn, checksOf(attempt));
    // A resumed run goes on from the last decision.
    if (last(attempt.events, 'decision')) loop = decided.loop;
    const now = judgementOf(decided.verdict, decided.decision.because);
    results.push({ iteration, recorded, now: isKnown ? { ...now, same: isSame(recorded, now) } : null });
  }
  return results;
}

function recordedJudgement({ events }: Attempt): Judgement | null {
  const verdict = last(events, 'verdict');
  const decision = last(events, 'decision');
  if (!verdict && !decision) return null;
  return judgementOf(verdict, decision?.because);
}

function judgementOf(
  verdict: Verdict | undefined,
  because: EventOf<'decision'>['because'] | undefined,
): Judgement {
  if (verdict) {
    const { accepted, evidence } = verdict;
    return { claim: 'done', accepted, because: verdict.because, evidence };
  }
  const forHuman = { accepted: false, because: because?.text ?? '', evidence: [] };
  if (because?.code === 'blocked') return { claim: 'blocked', ...forHuman };
  if (because?.code === 'needs-decision') return { claim: 'decide', ...forHuman };
  return { claim: 'none', accepted: false, because: 'there was no claim to judge', evidence: [] };
}

/** True for the same judgement for the same reason; the wording does not count. */
function isSame(a: Judgement, b: Judgement): boolean {
  return a.claim === b.claim && a.accepted === b.accepted && firstFailed(a) === firstFailed(b);
}

function firstFailed({ evidence }: Judgement): string | undefined {
  return evidence.find((item) => !item.ok)?.check;
}

function readStream(path: string, { adapter, plan }: Attempt, ended: EventOf<'agent.ended'>) {
  const plainText = plan.completion.tasks !== undefined;
  const reader = createTurnReader(adapter, { now: () => Date.parse(ended.at), plainText });
  if (!readLines(path, (line) => void reader.push(line.toString('utf8')))) return null;
  const { exitCode, cause, error } = ended;
  // What the agent wrote to standard error is kept only as the error of the turn.
  return reader.finish({ exitCode, cause, ...(error === undefined ? {} : { stderrTail: error }) });
}

function turnOf(
  { plan, events }: Attempt,
  ended: EventOf<'agent.ended'>,
  streamed: StreamedTurn | null,
): Turn {
  const { text, toolCalls, end, exitCode, usage, limit, error } = streamed ?? {
    ...ended,
    text: [ended.text],
  };
  const { pattern } = plan.completion;
  const stopped = last(events, 'decision')?.because.code === 'interrupted';
  return {
    text,
    toolCalls,
    end: stopped ? 'aborted' : end,
    exitCode,
    progress: ended.progress,
    endedAt: Date.parse(ended.at),
    durationMs: ended.ms,
    patternMatched: pattern !== undefined && compilePattern(pattern).test(text.join('\n')),
    tasksDone: last(events, 'prd.checked')?.complete ?? false,
    ...(streamed?.allRefused ? { allRefused: true } : {}),
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
  };
}

function checksOf({ events }: Attempt): Evidence[] {
  const verdict = last(events, 'verdict');
  if (verdict) return verdict.evidence.filter(({ check }) => !foundInTurn.has(check));
  return events.flatMap((event) => {
    if (event.type !== 'guardrail.ended' && event.type !== 'verify.ended') return [];
    const { command, ok, timedOut, exitCode } = event;
    const check = `${event.type === 'verify.ended' ? 'verify' : 'guardrail'}: ${command}`;
    return [{ check, ok, detail: timedOut ? 'timed out' : `exit code ${exitCode}` }];
  });
}

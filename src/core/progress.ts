import type { Check } from './evidence.ts';
import { hashText } from './hash.ts';
import type { LoopState, Reason } from './loop.ts';
import type { Turn } from './turn.ts';

/** True if the turn changed anything. */
export function madeProgress(turn: Turn): boolean {
  return turn.progress.commits > 0 || turn.progress.filesChanged > 0 || turn.progress.other !== undefined;
}

/** Returns the fingerprint of an error without its numbers, which differ each time. The text itself may hold secrets. */
export function errorSignature(turn: Turn, checks: readonly Check[]): string | null {
  const failure = checks.find((check) => !check.ok);
  const text = failure ? `${failure.check}\n${failure.feedback?.text ?? failure.detail}` : turn.error;
  if (!text) return null;
  return hashText(text.replace(/\d+/g, '#').replace(/\s+/g, ' ').trim().slice(0, 2000));
}

/** Returns the reason if the loop is stuck. Its counters already include this turn. */
export function stuckReason(loop: LoopState): Reason | null {
  const { withoutProgress, withoutTools, sameError } = loop.plan.limits;
  if (withoutProgress > 0 && loop.withoutProgress >= withoutProgress) {
    const what = loop.plan.completion.tasks === undefined ? 'changed nothing' : 'made no commit';
    return { code: 'no-progress', text: `${loop.withoutProgress} iterations in a row ${what}` };
  }
  if (withoutTools > 0 && loop.withoutTools >= withoutTools) {
    return {
      code: 'no-tool-calls',
      text: `${loop.withoutTools} turns in a row without a tool call that succeeded`,
    };
  }
  const withoutSign = loop.withoutSign ?? 0;
  if (withoutTools > 0 && withoutSign >= 2 * withoutTools) {
    return { code: 'no-tool-calls', text: `${withoutSign} turns in a row without a sign of work` };
  }
  if (sameError > 0 && loop.sameError >= sameError) {
    return { code: 'same-error', text: `the same error came ${loop.sameError} times in a row` };
  }
  return null;
}

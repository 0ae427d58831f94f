import { defuseTags } from '../core/feedback.ts';
import type { NextStep } from '../core/review/mode.ts';
import { capPrefix, type ReviewRules, type Story } from '../core/review/story.ts';
import { sameCriteria } from './turn-check.ts';

export type IterationFacts = {
  readonly iteration: number;
  readonly maxIterations: number;
  readonly step: NextStep;
  readonly rules: ReviewRules;
  /** The story as it was when the run first saw it. */
  readonly first?: Story | null;
};

/** The prompt of an iteration: the user's own text with its variables filled in one pass, then what is to be done now. */
export function iterationPrompt(text: string, facts: IterationFacts): string {
  const { iteration, maxIterations, step, rules } = facts;
  const values: Readonly<Record<string, string | number>> = {
    RALPH_ITERATION: iteration,
    RALPH_MAX_ITERATIONS: maxIterations,
    RALPH_REVIEW_CAP: rules.reviewCap,
    RALPH_MODE: step.mode,
    RALPH_STORY: step.story?.id ?? '',
  };
  const names = Object.keys(values).join('|');
  const filled = text.replace(
    new RegExp(`\\$(?:\\{(${names})\\}|(${names})(?!\\w))`, 'g'),
    (whole, braced, plain) => String(values[braced ?? plain] ?? whole),
  );
  return `${filled.trimEnd()}\n\n${brief(facts)}`;
}

function brief({ iteration, maxIterations, step: { mode, story }, rules, first }: IterationFacts): string {
  const name = story === null ? 'none is left' : `${story.id} - ${oneLine(story.title)}`;
  return [
    `This is iteration ${iteration} of ${maxIterations}. Mode: ${rules.skipReview ? 'implement (reviews are skipped)' : mode}. Story: ${name}.`,
    rules.skipReview ? skipping : howTo(mode, story?.reviewCount ?? 0, rules),
    ...(mode === 'review' && story && first && !sameCriteria(story, first) ? [formerCriteria(first)] : []),
  ].join('\n');
}

function formerCriteria({ acceptanceCriteria }: Story): string {
  const list = acceptanceCriteria.map((each) =>
    oneLine(typeof each === 'string' ? each : JSON.stringify(each)),
  );
  return `Its acceptance criteria were changed since this run began; judge whether that was right. They were:\n${list.map((line) => `- ${line}`).join('\n')}`;
}

const skipping =
  'When the story is implemented and the verify commands pass, set its passes to true, write what was done to its notes, and leave reviewStatus null.';

function howTo(mode: NextStep['mode'], reviews: number, { reviewCap }: ReviewRules): string {
  switch (mode) {
    case 'implement':
      return 'When the story is implemented, set its reviewStatus to "needs_review" and change no other review field of any story; passes stays false.';
    case 'review': {
      const last = reviews + 1 >= reviewCap;
      const otherwise = last
        ? `This is the last review (the cap is ${reviewCap}): approve the story whatever you found, and put ${capPrefix} before the concerns in reviewFeedback.`
        : 'If you find issues, set reviewStatus to "changes_requested" and say in reviewFeedback exactly what to fix and where; fix nothing yourself.';
      return `Set its reviewCount to ${reviews + 1}. If every criterion is met, set reviewStatus to "approved" and passes to true, with notes. ${otherwise}`;
    }
    case 'review-fix':
      return 'Address every point of its reviewFeedback, then clear reviewFeedback and set reviewStatus to "needs_review"; passes and reviewCount stay as they are.';
  }
}

function oneLine(text: string): string {
  return defuseTags(text).replace(/\s+/g, ' ').slice(0, 200);
}

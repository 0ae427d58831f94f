import { isObject } from '../json.ts';
import { capPrefix, hasText, type Story } from './story.ts';

type RawStory = Readonly<Record<string, unknown>>;

/**
 * Books a review in the content of tasks.json: counts it and, at the cap, approves the story whatever the review said,
 * with `leftover` or else its feedback as the open notes.
 */
export function bookReview(
  value: unknown,
  { id, reviewCount }: Pick<Story, 'id' | 'reviewCount'>,
  reviewCap: number,
  leftover?: string,
): unknown {
  if (!isObject(value)) return value;
  const count = reviewCount + 1;
  const userStories = storiesOf(value).map((story) => {
    if (!isObject(story) || story.id !== id) return story;
    const approval = count < reviewCap ? {} : approvalOf(story, leftover);
    return { ...story, reviewCount: count, ...approval };
  });
  return { ...value, userStories };
}

/** True if the content of tasks.json has a verdict on the story that came at the cap and leaves something open. */
export function isVerdictAtCap(value: unknown, { id, reviewCount }: Story, reviewCap: number): boolean {
  const story = storiesOf(value).find((each) => isObject(each) && each.id === id);
  if (!isObject(story) || story.reviewCount !== reviewCount + 1 || story.reviewCount < reviewCap)
    return false;
  if (story.reviewStatus === 'changes_requested') return story.passes === false;
  return story.reviewStatus === 'approved' && story.passes === true && hasText(textOf(story.reviewFeedback));
}

function approvalOf({ reviewFeedback, notes }: RawStory, leftover = textOf(reviewFeedback)) {
  const isMarked = leftover.trimStart().startsWith(capPrefix);
  return {
    passes: true,
    reviewStatus: 'approved',
    reviewFeedback: isMarked ? leftover : `${capPrefix} ${leftover}`,
    notes: hasText(textOf(notes)) ? notes : 'Approved at the review cap.',
  };
}

function storiesOf(value: unknown): readonly unknown[] {
  return isObject(value) && Array.isArray(value.userStories) ? value.userStories : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

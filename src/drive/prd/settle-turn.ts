import { join } from 'node:path';
import { bookReview, isVerdictAtCap } from '../../core/review/cap.ts';
import type { ReviewRules, Story, TaskProblem } from '../../core/review/story.ts';
import { type CommittedFile, type RestoreFolders, repairHead, restoreFile } from './restore-files.ts';
import { type PrdPaths, parseTasks, putBack, readTasksFile } from './tasks.ts';
import {
  checkTurn,
  illegalOf,
  type TurnWork,
  type ValidTasks,
  validTasks,
  withoutCommit,
} from './turn-check.ts';

export type PrdTurn = TurnWork & {
  readonly before: ValidTasks;
  readonly rules: ReviewRules;
  readonly iteration: number;
  readonly finished: boolean;
  /** False if the agent has to commit its work and made no commit. */
  readonly committed: boolean;
};

export type SettledTasks = {
  readonly list: ValidTasks;
  readonly problems: readonly TaskProblem[];
  readonly undone: boolean;
  /** Id of a story that the loop approved at the review cap; null if there is none. */
  readonly approved: string | null;
};

/** Takes the task list as it is after a turn, or puts it back. A finished review counts in both cases. */
export function settleTasks(turn: PrdTurn, paths: PrdPaths, folders: RestoreFolders): SettledTasks {
  const { before, rules, finished } = turn;
  const file = readTasksFile(paths);
  const review = reviewOf(turn);
  const isAtCap = review !== null && file.ok && isVerdictAtCap(file.value, review, rules.reviewCap);
  const verdict = review && isAtCap ? book(file.value, review, rules) : file;
  const { tasks, problems: turnProblems } = checkTurn(verdict, before.tasks, turn, rules);
  const all = [...turnProblems, ...(tasks && !turn.committed ? withoutCommit(before.tasks, tasks) : [])];
  const illegal = illegalOf(all);
  const problems = finished ? all : illegal;
  if (verdict.ok && tasks && illegal.length === 0) {
    const { text } = verdict;
    if (isAtCap) putBack(paths.tasks, text, folders.top, folders.aside);
    return { list: { text, tasks }, problems, undone: false, approved: isAtCap ? review.id : null };
  }
  const list = (review && finished && recount(before, review, rules)) || before;
  restoreFile({ path: paths.tasks, text: list.text, rejected: file.text }, turn.iteration, folders);
  const isApproved = list.tasks.userStories.some(({ id, passes }) => id === review?.id && passes);
  return { list, problems, undone: true, approved: isApproved && review ? review.id : null };
}

/** Corrects the files of the PRD in the last commit. Returns whether that took a commit, and why it failed. */
export function repairCommit(
  { before, rules, ...work }: PrdTurn,
  { list, undone, approved }: SettledTasks,
  { tasks: path }: PrdPaths,
  commit: {
    readonly top: string;
    readonly start: string | null;
    readonly folder: string;
    readonly others?: readonly CommittedFile[];
  },
) {
  const isIllegal = (text: string | null) =>
    illegalOf(checkTurn(parseTasks(text), before.tasks, work, rules).problems).length > 0;
  const isWrong = (text: string | null) => undone || approved !== null || isIllegal(text);
  const files = [{ path, text: list.text, isWrong }, ...(commit.others ?? [])];
  const message = approved !== null && !undone ? `chore: approve ${approved} at the review cap` : undefined;
  return repairHead({ ...commit, scratch: join(commit.folder, 'undo.index') }, files, message);
}

function reviewOf({ before, mode, story, rules }: PrdTurn): Story | null {
  if (mode !== 'review' || rules.skipReview) return null;
  return before.tasks.userStories.find(({ id }) => id === story) ?? null;
}

/** Counts a review whose change of the list was undone. */
function recount(before: ValidTasks, review: Story, rules: ReviewRules): ValidTasks | null {
  const leftover = 'The last review did not keep to the rules, and its change of the list was undone.';
  return validTasks(book(JSON.parse(before.text), review, rules, leftover));
}

function book(value: unknown, review: Story, { reviewCap }: ReviewRules, leftover?: string) {
  const booked = bookReview(value, review, reviewCap, leftover);
  return { ok: true, text: `${JSON.stringify(booked, null, 2)}\n`, value: booked } as const;
}

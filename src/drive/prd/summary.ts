import { formatDuration } from '../../core/duration.ts';
import { byPriority, countTasks, estimateIterations } from '../../core/review/mode.ts';
import { capPrefix, type ReviewRules, type Story, type TaskList } from '../../core/review/story.ts';
import { plural } from '../../core/text.ts';

/** Returns the line about the iterations that the stories need, with advice if the limit is lower. */
export function budgetLine(tasks: TaskList, rules: ReviewRules, maxIterations: number): string {
  const { total, done } = countTasks(tasks);
  const remaining = total - done;
  const needed = estimateIterations(tasks, rules);
  const each = remaining === 0 ? 0 : Math.round(needed / remaining);
  const enough =
    needed <= maxIterations ? '' : ` (more than the ${maxIterations} allowed: -n ${needed} gives them)`;
  return `${remaining} of ${total} stories left × ~${plural(each, 'iteration')} each = ~${plural(needed, 'iteration')} needed${enough}`;
}

export function closingSummary(
  tasks: TaskList,
  figures: { readonly iterations: number; readonly ms: number },
): string[] {
  const { total, done } = countTasks(tasks);
  const reviews = tasks.userStories.map(({ reviewCount }) => reviewCount);
  const sum = reviews.reduce((a, b) => a + b, 0);
  const average = total === 0 ? 0 : sum / total;
  return [
    `Stories: ${done} of ${total} done. Iterations: ${figures.iterations}. Duration: ${formatDuration(figures.ms)}. Reviews: ${sum} (${average.toFixed(1)} per story).`,
    ...byPriority(tasks.userStories).map(
      (story) => `  ${story.id}: ${stateOf(story)}, ${plural(story.reviewCount, 'review')}`,
    ),
  ];
}

export function stateOf({ passes, reviewStatus, reviewFeedback }: Story): string {
  if (passes && reviewStatus === 'approved')
    return reviewFeedback.trimStart().startsWith(capPrefix) ? 'approved at the cap' : 'approved';
  if (passes) return 'done without review';
  return {
    needs_review: 'needs review',
    changes_requested: 'changes requested',
    approved: 'open',
    null: 'open',
  }[reviewStatus ?? 'null'];
}

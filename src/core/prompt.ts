import { completionTag } from './completion.ts';
import type { Completion, Feedback, LoopState } from './loop.ts';
import { fillTemplate } from './template.ts';

/** Composes the prompt of the next iteration from the task and the feedback of the last one. */
export function composePrompt(loop: LoopState): string {
  const texts = (action: Feedback['action']): string[] =>
    loop.feedback.filter((item) => item.action === action).map((item) => item.text);
  const replaced = texts('REPLACE');
  const body = [...texts('PREPEND'), ...(replaced.length > 0 ? replaced : [loop.task]), ...texts('APPEND')];
  return [...iterationLine(loop), ...body].join('\n\n');
}

function iterationLine(loop: LoopState): string[] {
  const of = loop.plan.limits.iterations;
  if (!loop.plan.countInPrompt || of === null) return [];
  return [`Iteration ${loop.iteration} of ${of}, ${of - loop.iteration} remaining.`];
}

/** Returns the text that tells the agent how to finish; null if a pattern or the task list decides. */
export function completionContract(completion: Completion): string | null {
  const tag = completionTag(completion);
  return tag === null ? null : fillTemplate(CONTRACT, { TAG: tag });
}

/** True if the prompt itself names the tag, and so tells the agent how to finish. */
export function namesTag(prompt: string, completion: Completion): boolean {
  const tag = completionTag(completion);
  return tag !== null && prompt.toLowerCase().includes(tag.toLowerCase());
}

const CONTRACT = `You are working in a loop: if you stop before the task is done, you are started again with the same task.
When, and only when, the whole task is done and you have checked it, put this tag alone on the last line of your answer, exactly as it stands here:
{{TAG}}
Do not write the tag for any other reason: not to quote it, not to promise it for later. A claim without work, or with failing checks, is rejected.
If you cannot go on without something that only a human can give, write <promise>BLOCKED: what is missing</promise> instead.
If a human has to choose, write <promise>DECIDE: the question</promise> instead.`;

import { completionTag } from '../../core/completion.ts';
import { formatDuration } from '../../core/duration.ts';
import type { LoopState, Reason } from '../../core/loop.ts';
import type { Outcome } from '../../core/outcome.ts';
import { oneLine, plural } from '../../core/text.ts';
import type { SessionLoop } from './session-loops.ts';

/** First paragraph of each message of `/ulw-loop`. */
export const ultrawork = `Ultrawork mode: give this everything you have. Plan the remaining steps, use every tool and helper that \
saves time, and do independent parts side by side. Check each result yourself before you believe it, and leave nothing half done.`;

/** Message to the agent at the start of a loop: the task, and how to finish. */
export function startMessage(state: SessionLoop): string {
  const tag = tagText(state.loop);
  return [
    ...ultraworkOf(state),
    `You are in a Ralph loop (${limitsText(state)}): when you try to stop before the task is done, you are sent back to work.`,
    'The task:',
    taskText(state),
    'How to finish:',
    [
      `- Only when the task is fully done and you have checked it, output the completion promise: ${tag}`,
      '- Put it alone on the last line of your answer, exactly as it stands here: same case, no space inside the tag, no variant of it.',
      '- If the task is not done, do not output the promise, and do not mention it either. A promise without work is rejected.',
      ...state.verify.map((command) => `- The promise is then checked with: ${command}`),
      '- If only a human can help, output <promise>BLOCKED: what is missing</promise>; if a human has to choose, <promise>DECIDE: the question</promise>.',
    ].join('\n'),
  ].join('\n\n');
}

export function continuationMessage(state: SessionLoop): string {
  const { loop } = state;
  const tag = tagText(loop);
  const feedback = loop.feedback.map((item) => item.text);
  const sentence =
    feedback.length === 0
      ? `You attempted to end the loop, but you did not output the completion promise ${tag}. Continue working on the original task below. Only output the promise when the task is fully complete. Original task: ${taskText(state)}`
      : `Continue working on the original task below. Only output the promise ${tag} when the task is fully complete. Original task: ${taskText(state)}`;
  return [...ultraworkOf(state), `[Ralph loop: ${iterationText(loop)}]`, ...feedback, sentence].join('\n\n');
}

/** Message that repeats the task in a session that lost its context or was resumed. */
export function reminderMessage(state: SessionLoop): string {
  const pauseNote =
    state.status === 'paused' ? ' The loop is paused until the user types /ralph-resume.' : '';
  return `A Ralph loop is going on in this session (${iterationText(state.loop)}).${pauseNote} This is what it is about.\n\n${startMessage(state)}`;
}

export function endMessage(state: SessionLoop, outcome: Outcome, because: Reason): string {
  const after = plural(state.loop.iteration, 'iteration');
  const next = isResumable(outcome) ? ' /ralph-resume goes on with it.' : '';
  return `Ralph loop ended: ${outcome} after ${after}: ${oneLine(because.text, 2000)}.${next} Record: ralph show ${state.run}`;
}

/** True for an end after which the session can go on with the loop once a human helped. */
export function isResumable(outcome: Outcome | null): boolean {
  return outcome !== null && resumable.has(outcome);
}

const resumable = new Set<Outcome>(['BLOCKED', 'NEEDS_DECISION', 'STUCK', 'AGENT_FAILED']);

/** Line about a loop of another session, which may be gone. */
export function orphanText({ run, sessionId, status, updatedAt, loop }: SessionLoop, now: number): string {
  return `Session ${sessionId} has one here: ${run}, ${status}, ${iterationText(loop)}, last sign ${formatDuration(now - updatedAt)} ago. If that session is gone: ralph stop ${run}`;
}

export function statusMessage(state: SessionLoop, now: number): string {
  const { loop } = state;
  return [
    `Ralph loop ${state.run}: ${state.status}, ${iterationText(loop)}, ${formatDuration(now - state.startedAt)} since the start.`,
    `Task: ${oneLine(loop.task, 300)}`,
    `Done is ${tagText(loop)}${workText[state.onPromiseNoWork](state.minToolCalls)} (${plural(loop.toolCalls, 'tool call')} so far).`,
    `Limits: ${limitsText(state)}.`,
    ...state.verify.map((command) => `Verified with: ${command}`),
  ].join('\n');
}

const workText = {
  reject: (calls: number) => `, with at least ${plural(calls, 'tool call')}`,
  warn: (calls: number) => `, with a warning below ${plural(calls, 'tool call')}`,
  accept: () => ', whatever the work',
};

export function iterationText({ iteration, plan }: LoopState): string {
  const of = plan.limits.iterations;
  return `iteration ${iteration}${of === null ? '' : ` of ${of}`}`;
}

function limitsText({ loop: { plan } }: SessionLoop): string {
  const { iterations, wallMs } = plan.limits;
  const time = wallMs === null ? '' : `, at most ${formatDuration(wallMs)}`;
  return `at most ${iterations ?? 'any number of'} iterations${time}`;
}

function ultraworkOf({ command }: SessionLoop): string[] {
  return command === 'ulw-loop' ? [ultrawork] : [];
}

/** Claude Code 2.1.325 shows the model the first 2 KB of a context above 10,000 characters, and a file with the rest. */
export const mostTaskChars = 8000;

function taskText({ loop: { task }, taskFile }: SessionLoop): string {
  if (taskFile === undefined) return task;
  const start = task.slice(0, mostTaskChars).replace(/[\uD800-\uDBFF]$/, '');
  return `${start}\n[These are the first ${start.length} of ${task.length} characters of the task. Read all of it: ${taskFile}]`;
}

function tagText(loop: LoopState): string {
  return completionTag(loop.plan.completion) ?? '';
}

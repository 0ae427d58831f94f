import type { Evidence, Feedback, LoopState, Verdict } from './loop.ts';
import type { Turn } from './turn.ts';

/** Check outside the agent, with the feedback for the agent if it failed. */
export type Check = Evidence & { readonly feedback?: Feedback };

/** Start of the reason of a verdict if the task list, not a tag, made the claim. */
export const doneByTasks = 'every story is done';

/** Judges the claim that `tag` made. The loop's counters include this turn already. */
export function judge(loop: LoopState, turn: Turn, checks: readonly Check[], tag?: string): Verdict {
  const evidence: Evidence[] = [turnEvidence(turn), ...toolEvidence(loop, turn)];
  for (const { feedback: _, ...item } of checks) evidence.push(item);
  const failed = evidence.find((item) => !item.ok);
  if (failed) return { accepted: false, because: `${failed.check}: ${failed.detail}`, evidence };
  // A later run of the same check counts: another check may have changed its result.
  const sure = new Set(evidence.filter(({ warning }) => !warning).map(({ check }) => check));
  const doubts = evidence
    .filter(({ warning }) => warning)
    .map(({ check, detail }) => `; ${check}: ${detail}`);
  const passed = `passed: ${[...sure].join(', ')}${doubts.join('')}`;
  const byTasks = tag !== undefined && tag === loop.plan.completion.tasks;
  return { accepted: true, because: byTasks ? `${doneByTasks}, ${passed}` : passed, evidence };
}

function turnEvidence(turn: Turn): Evidence {
  if (turn.end === 'finished') return { check: 'turn', ok: true, detail: 'finished' };
  const exit = turn.exitCode === null || turn.exitCode === 0 ? '' : ` with exit code ${turn.exitCode}`;
  return {
    check: 'turn',
    ok: false,
    detail: `the turn ended as ${turn.end}${exit}${turn.error ? `: ${turn.error}` : ''}`,
  };
}

/** Judges the tool calls since the loop began; for an agent that cannot report them, its changes. */
function toolEvidence(loop: LoopState, turn: Turn): Evidence[] {
  const wanted = loop.plan.minToolCalls;
  if (wanted === null || wanted === 0) return [];
  if (turn.toolCalls === null && loop.toolCalls < wanted) {
    const detail = `this agent reports no tool calls; ${loop.filesChanged} files changed`;
    return [{ check: 'work', ok: loop.filesChanged > 0, detail }];
  }
  const calls = `${loop.toolCalls} tool call${loop.toolCalls === 1 ? '' : 's'}`;
  const ok = loop.toolCalls >= wanted;
  return [{ check: 'tool-calls', ok, detail: ok ? calls : `${calls} succeeded, at least ${wanted} wanted` }];
}

import type { Evidence, Feedback, LoopState, Verdict } from './loop.ts';
import type { Turn } from './turn.ts';

/** Something that was checked outside, with what the agent should read if it failed. */
export type Check = Evidence & { readonly feedback?: Feedback };

/** Begins the reason of a verdict where nobody claimed anything, but the task list says it. */
export const doneByTasks = 'every story is done';

/** Judges a claim, which `marker` made. The loop's counters include this turn already. */
export function judge(loop: LoopState, turn: Turn, checks: readonly Check[], marker?: string): Verdict {
  const evidence: Evidence[] = [turnEvidence(turn), ...toolEvidence(loop, turn)];
  for (const { check, ok, detail } of checks) evidence.push({ check, ok, detail });
  const failed = evidence.find((item) => !item.ok);
  if (failed) return { accepted: false, because: `${failed.check}: ${failed.detail}`, evidence };
  // A check may be made again after another one that could have changed its result.
  const passed = `passed: ${[...new Set(evidence.map((item) => item.check))].join(', ')}`;
  const byTasks = marker !== undefined && marker === loop.plan.completion.tasks;
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

/** Counted since the loop began. An agent that cannot report tool calls shows its work by what it changed. */
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

import { readClaim } from '../../src/core/completion.ts';
import { decide, newLoop } from '../../src/core/decide.ts';
import type { Check } from '../../src/core/evidence.ts';
import type { Completion, LoopPlan } from '../../src/core/loop.ts';
import { outcomes } from '../../src/core/outcome.ts';
import type { Limit, Turn, TurnEnd } from '../../src/core/turn.ts';
import type { ScriptTurn } from '../../src/testkit/index.ts';
import { usageOf } from '../../src/testkit/play.ts';
import {
  type Case,
  type CaseSettings,
  check,
  type Difference,
  type End,
  finish,
  isInterrupted,
  look,
  removeAgent,
  removePrompt,
  token,
} from './case.ts';

/** How a case ends by `decide` alone, with the differences of one driver. */
export function expectedEnd({ settings, turns }: Case, differences: readonly Difference[]): End {
  const plan = differences.reduce((plan, difference) => difference.plan?.(plan) ?? plan, planOf(settings));
  const first = differences.some(({ firstIteration }) => firstIteration === 0) ? 0 : 1;
  if (settings.busy) return { outcome: 'LOOP_FAILED', iterations: 0, code: 'already-running', exitCode: 5 };
  let loop = newLoop(plan, '', first);
  let finished = false;
  for (let index = 0; index < 100; index++) {
    const script = turns[Math.min(index, turns.length - 1)] ?? { steps: [] };
    finished ||= script.steps.includes(finish);
    const turn = differences.reduce(
      (turn, difference) => difference.turn?.(turn, finished) ?? turn,
      turnOf(script, settings),
    );
    const { iteration } = loop;
    const evidence = differences.flatMap((difference) => difference.evidence?.(finished) ?? []);
    const decided = decide(loop, turn, checksOf(settings, plan.completion, turn, evidence, finished));
    loop = decided.loop;
    if (script.steps.includes(removePrompt))
      return { outcome: 'LOOP_FAILED', iterations: iteration, code: 'prompt-file', exitCode: 2 };
    if (script.steps.includes(removeAgent))
      return { outcome: 'AGENT_FAILED', iterations: iteration, code: 'agent-missing', exitCode: 3 };
    if (decided.decision.kind !== 'stop') continue;
    const { outcome, because } = decided.decision;
    const end: End = { outcome, iterations: iteration, ...because, exitCode: outcomes[outcome].exitCode };
    return differences.reduce((end, difference) => difference.end?.(end, plan.completion) ?? end, end);
  }
  throw new Error('the case has no end');
}

/** The plan of `ralph run` for these settings. */
function planOf(settings: CaseSettings): LoopPlan {
  const { stuckAfter = 3 } = settings;
  return {
    id: 'case',
    completion: completionOf(settings),
    limits: {
      iterations: settings.maxIterations,
      wallMs: settings.maxTime ?? null,
      tokens: settings.maxTokens ?? null,
      costUsd: settings.maxCost ?? null,
      iterationTokens: settings.maxIterationTokens ?? null,
      iterationCostUsd: settings.maxIterationCost ?? null,
      waitMs: (settings.maxWait ?? 3600) * 1000,
      failures: settings.maxFailures ?? 5,
      withoutProgress: stuckAfter,
      withoutTools: stuckAfter,
      sameError: 2 * stuckAfter,
    },
    minToolCalls: settings.minToolCalls ?? 1,
    countInPrompt: false,
  };
}

function completionOf({ noGoal, pattern, response, match = 'claim' }: CaseSettings): Completion {
  if (noGoal) return {};
  if (pattern !== undefined) return { pattern };
  return response ? { response: token } : { promise: { token, match } };
}

/** Reads a turn from the script itself: the expectation must not come from the code that is tested. */
function turnOf(script: ScriptTurn, settings: CaseSettings): Turn {
  const { pattern } = settings;
  const text = script.steps.flatMap((step) => {
    if ('text' in step) return [step.text];
    return 'deltas' in step ? [step.deltas.join('')] : [];
  });
  const deeds = script.steps.filter((step) => 'shell' in step);
  const tools = script.steps.filter((step) => 'tool' in step);
  const shown = tools.filter(({ tool }) => tool.ok !== false);
  const limit = limitOf(script);
  const end = endOf(script, settings, limit);
  const error = limit?.message ?? (end === 'failed' ? errorOf(script, text) : undefined);
  return {
    text,
    toolCalls: deeds.length + shown.length,
    allRefused: deeds.length === 0 && tools.length > 0 && shown.length === 0,
    end,
    exitCode: script.exitCode ?? 0,
    usage: usageOf(script),
    ...(limit === undefined ? {} : { limit }),
    progress: { commits: 0, filesChanged: deeds.some((step) => step !== look) ? 1 : 0 },
    ...(error === undefined ? {} : { error }),
    endedAt: Date.now(),
    durationMs: 100,
    ...(pattern === undefined ? {} : { patternMatched: new RegExp(pattern).test(text.join('\n')) }),
  };
}

function endOf(script: ScriptTurn, settings: CaseSettings, limit: Limit | undefined): TurnEnd {
  const { steps, exitCode } = script;
  if (isInterrupted({ settings, turns: [script] })) return 'aborted';
  if (steps.some((step) => 'hang' in step)) return settings.idleTimeout ? 'inactive' : 'timed-out';
  if (limit !== undefined) return 'limited';
  return exitCode || steps.some((step) => 'result' in step && step.result.ok === false)
    ? 'failed'
    : 'finished';
}

/** What the agent says of its failure: on standard error, by its exit code, or by the last text of its result. */
function errorOf({ steps, exitCode }: ScriptTurn, text: readonly string[]): string | undefined {
  const stderr = steps.flatMap((step) => ('stderr' in step ? [step.stderr] : []));
  if (stderr.length > 0) return stderr.join('\n');
  return exitCode ? `exited with code ${exitCode}` : text.at(-1);
}

/** The limit behind an error, by its HTTP status. */
function limitOf({ steps }: ScriptTurn): Limit | undefined {
  const error = steps.flatMap((step) => ('error' in step ? [step.error] : []))[0];
  if (error === undefined) return undefined;
  const { status, message, resetsAt } = error;
  if (resetsAt !== undefined) return { kind: 'usage', resetsAt: resetsAt * 1000, message };
  if (status === 401) return { kind: 'auth', message };
  if (status === 402) return { kind: 'quota', message: `API Error: 402 ${message}` };
  return { kind: status === 529 ? 'overload' : 'context', message };
}

/** The guardrail of every turn, and what is looked at when the agent claims to be done. */
function checksOf(
  { guardrail, verify }: CaseSettings,
  completion: Completion,
  turn: Turn,
  evidence: readonly Check[],
  finished: boolean,
): Check[] {
  const result = (name: string): Check => ({ check: `${name}: ${check}`, ok: finished, detail: '' });
  const isClaim = readClaim(turn.text, completion, turn).kind === 'done';
  return [
    ...(guardrail ? [result('guardrail')] : []),
    ...(isClaim ? evidence : []),
    ...(isClaim && (guardrail || verify) ? [{ check: 'check-files', ok: true, detail: '' }] : []),
    ...(isClaim && verify ? [result('verify')] : []),
  ];
}

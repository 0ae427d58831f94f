import { readClaim } from '../core/completion.ts';
import { type Decided, decide } from '../core/decide.ts';
import { messageOf } from '../core/error.ts';
import type { Check } from '../core/evidence.ts';
import { fence } from '../core/fence.ts';
import type { Feedback, LoopState } from '../core/loop.ts';
import { composePrompt } from '../core/prompt.ts';
import type { Progress, Turn } from '../core/turn.ts';
import type { Sandbox } from '../safety/sandbox/sandbox.ts';
import type { Journal } from '../store/journal.ts';
import type { AgentTurn } from './agent-turn.ts';
import { askAgent, runAgent, sessionCutBy } from './call-agent.ts';
import type { CheckContext } from './check-command.ts';
import { runGuardrails } from './guardrails.ts';
import type { ProtectedFiles } from './protected.ts';
import { recordAgentEnd, recordDecision } from './record.ts';
import type { Inspected, Recorder, RunSpec } from './run-spec.ts';
import { commitMessagePrompt, runScm } from './scm.ts';
import { runVerify } from './verify.ts';

/** What lives as long as the run. */
export type RunParts = {
  readonly journal: Journal;
  readonly record: Recorder;
  readonly sandbox: Sandbox;
  readonly protectedFiles: ProtectedFiles;
  /** Guardrails that passed the last time they ran. */
  readonly passed: Set<string>;
  /** The agent's session that a limit cut off, for the next try. */
  cutSession: string | null;
};

/** One go: prompt, agent, checks, decision. */
export async function runIteration(
  spec: RunSpec,
  before: LoopState,
  parts: RunParts,
): Promise<Decided & { readonly ran: number }> {
  const { record, sandbox } = parts;
  const { workspace } = spec;
  const started = spec.clock.monotonic();
  const staged = spec.stage?.prepare(before.iteration, before.task, workspace.head());
  const loop = {
    ...before,
    task: staged?.task ?? before.task,
    feedback: [...before.feedback, ...wordsOfHumans(spec, before.iteration, record)],
  };
  const { iteration } = loop;
  const prompt = composePrompt(loop);
  record({
    type: 'iteration.started',
    iteration,
    of: loop.plan.limits.iterations,
    promptChars: prompt.length,
    promptStart: prompt.slice(0, 200),
    ...headOf(workspace),
  });
  for (const event of staged?.events ?? []) record(event);

  const { cutSession } = parts;
  const ranTurn = await runAgent(spec, loop, {
    prompt,
    cutSession,
    record,
    sandbox,
    started: () => workspace.prepare(),
    // In a sandbox, git is not run here as long as the agent could still put something in its way.
    resultSeen: () => sandbox.provider === 'none' && workspace.look(),
  });
  // With a stage every go is a fresh agent: what it is for may have changed.
  parts.cutSession = spec.stage ? null : sessionCutBy(ranTurn, spec.agent);
  const changed = await workspace.progress();
  const agentTurn =
    loop.plan.retryEmpty && didNothing(ranTurn, changed) ? { ...ranTurn, end: 'empty' as const } : ranTurn;
  recordAgentEnd(agentTurn, iteration, changed, record);
  if (spec.stage) recordSwept(agentTurn.process.sweptPids, record);
  for (const denial of spec.takeDenials()) record({ type: 'guard.denied', iteration, ...denial });
  const ownFiles = restoreOwnFiles(spec, parts);

  const context = checkContext(spec, iteration, sandbox);
  const guardrails = guardrailsApply(agentTurn) ? await checkGuardrails(spec, context, record) : [];
  const progress = withNewPasses(spec.stage?.progressOf(changed) ?? changed, guardrails, parts.passed);
  const inspected = await spec.stage?.inspect(iteration, agentTurn.end, record);
  if (inspected?.committed) await workspace.forgive();
  const turn = {
    ...turnOf(spec, withoutEcho(agentTurn, prompt, spec), progress),
    ...(inspected?.done ? { tasksDone: true } : {}),
  };
  const checks = [
    ...ownFiles,
    ...guardrails,
    ...(inspected?.checks ?? []),
    ...(await checkClaim(spec, loop, turn, { guardrails, inspected }, context, parts)),
  ];
  const turnNow = {
    ...turn,
    endedAt: spec.clock.now(),
    durationMs: Math.round(spec.clock.monotonic() - started),
  };

  const decided = decide(loop, spec.stop.aborted ? { ...turnNow, end: 'aborted' } : turnNow, checks);
  if (agentTurn.end === 'finished' && checks.every((check) => check.ok))
    await commitWork(spec, iteration, parts);
  recordDecision(decided, iteration, headOf(workspace), record);
  return { ...decided, ran: iteration };
}

/** Whose turn is next may be judged by what still ran. */
function recordSwept(pids: readonly number[], record: Recorder): void {
  if (pids.length === 0) return;
  record({ type: 'notice', text: `ended what the turn had left running: ${pids.join(', ')}` });
}

function headOf(workspace: RunSpec['workspace']): { head?: string } {
  const head = workspace.head();
  return head === null ? {} : { head };
}

/** Notes and answers stand in a fence: they are told, but they cannot pose as the loop. */
function wordsOfHumans(spec: RunSpec, iteration: number, record: Recorder): Feedback[] {
  const answers = iteration === (spec.resume?.iteration ?? 1) ? spec.words : [];
  const words = [...answers, ...spec.takeNotes()].map((text): Feedback => {
    record({ type: 'note', iteration, text });
    return { action: 'APPEND', text: fence('A human left word for you', text, spec.nonce()) };
  });
  if (answers.length > 0) spec.wordsKept();
  return words;
}

/** An agent that removes or edits what belongs to the loop neither ends nor bends it. */
function restoreOwnFiles(spec: RunSpec, { journal, record }: RunParts): Check[] {
  const restored = [...(journal.restore('quick') ? ['the journal'] : []), ...spec.restoreFiles()];
  if (restored.length === 0) return [];
  const list = restored.join(', ');
  record({ type: 'notice', text: `changed during the turn and put back: ${list}` });
  const text = `You changed files of the loop itself (${list}); they were put back. Leave .ralph/ alone.`;
  return [
    { check: 'own-files', ok: false, detail: `changed: ${list}`, feedback: { action: 'APPEND', text } },
  ];
}

/** It ended well, without a word or a deed. */
function didNothing({ end, text, toolCalls }: AgentTurn, { commits, filesChanged }: Progress): boolean {
  const silent = end === 'finished' && !toolCalls && text.every((block) => block.trim() === '');
  return silent && commits === 0 && filesChanged === 0;
}

/** Where the agent did nothing there is nothing to check. */
function guardrailsApply({ end }: AgentTurn): boolean {
  return end !== 'limited' && end !== 'aborted' && end !== 'empty';
}

async function checkGuardrails(spec: RunSpec, context: CheckContext, record: Recorder): Promise<Check[]> {
  const { iteration } = context;
  const checks: Check[] = [];
  for await (const step of runGuardrails(spec.settings.guardrails, context)) {
    if ('started' in step) {
      record({ type: 'guardrail.started', iteration, command: step.started });
      continue;
    }
    const { check, ms, ...result } = step;
    record({ type: 'guardrail.ended', iteration, ms: Math.round(ms), ...result });
    checks.push(check);
  }
  return checks;
}

/** A program that prints what it was asked has not answered: `cat` is no agent. */
function withoutEcho(turn: AgentTurn, prompt: string, { agent }: RunSpec): AgentTurn {
  if (!agent.adapter.endsWithoutResult) return turn;
  return { ...turn, text: turn.text.map((block) => block.replace(prompt.trim(), () => '')) };
}

/** A guardrail that passes for the first time is progress, too. */
function withNewPasses(progress: Progress, guardrails: readonly Check[], passed: Set<string>): Progress {
  const fresh = guardrails.filter((check) => check.ok && !passed.has(check.check));
  for (const check of guardrails) {
    if (check.ok) passed.add(check.check);
    else passed.delete(check.check);
  }
  return fresh.length === 0
    ? progress
    : { ...progress, other: `${fresh.map((check) => check.check).join(', ')} passes now` };
}

/** What is only looked at when the agent claims to be done; slow commands last, and not if the claim has failed already. */
async function checkClaim(
  spec: RunSpec,
  loop: LoopState,
  turn: Turn,
  { guardrails, inspected }: { guardrails: readonly Check[]; inspected: Inspected | undefined },
  context: CheckContext,
  { protectedFiles, record }: RunParts,
): Promise<Check[]> {
  if (readClaim(turn.text, loop.plan.completion, turn).kind !== 'done') return [];
  const files = protectedFiles.check();
  const checks = [...(inspected ? [inspected.evidence] : []), ...(files ? [files] : [])];
  const before = [...guardrails, ...(inspected?.checks ?? []), ...checks];
  const stillGood = turn.end === 'finished' && before.every((check) => check.ok);
  if (!stillGood) return checks;
  for await (const { check, ms, ...result } of runVerify(spec.settings.verify, context, spec.nonce)) {
    record({ type: 'verify.ended', iteration: context.iteration, ms: Math.round(ms), ...result });
    checks.push(check);
  }
  // The commands ran code of the agent's, which may have touched what was looked at before.
  const again =
    spec.settings.verify.length > 0
      ? await spec.stage?.inspect(context.iteration, turn.end, record)
      : undefined;
  return [...checks, ...(again?.checks ?? []), ...(again ? [again.evidence] : [])];
}

/** Source control, when nothing failed that was checked. A failure is told, and the work stays where it is. */
async function commitWork(spec: RunSpec, iteration: number, { record, sandbox }: RunParts): Promise<void> {
  const { scm } = spec.settings;
  if (!scm || spec.stop.aborted) return;
  try {
    const ask = () => askAgent(spec, sandbox, commitMessagePrompt);
    for await (const result of runScm(scm, spec, sandbox, ask)) {
      record({ type: 'scm.ended', iteration, ...result });
    }
  } catch (error) {
    record({ type: 'scm.ended', iteration, task: scm.tasks.join(', '), ok: false, detail: messageOf(error) });
  }
  await spec.workspace.forgive();
}

function checkContext(spec: RunSpec, iteration: number, sandbox: Sandbox): CheckContext {
  return {
    ...(spec.settings.sandboxChecks ? { sandbox } : {}),
    cwd: spec.cwd,
    env: spec.env,
    run: spec.run,
    iteration,
    traced: spec.stage !== undefined,
    timeoutMs: spec.settings.guardrailTimeout,
    maxChars: spec.settings.outputTruncateChars,
    clock: spec.clock,
    stop: spec.stop,
    redact: () => spec.redactor.stream(),
  };
}

function turnOf(spec: RunSpec, agentTurn: AgentTurn, progress: Progress): Turn {
  const { text, toolCalls, end, exitCode, usage, limit, error } = agentTurn;
  const matched = spec.matchPattern?.(text.join('\n'));
  return {
    text,
    toolCalls,
    end,
    exitCode,
    progress,
    endedAt: spec.clock.now(),
    durationMs: 0,
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
    ...(matched === undefined ? {} : { patternMatched: matched }),
  };
}

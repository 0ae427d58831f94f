import { relative } from 'node:path';
import { runPaths } from '../../config/paths.ts';
import { readClaim } from '../../core/completion.ts';
import { type Decided, decide } from '../../core/decide.ts';
import { messageOf } from '../../core/error.ts';
import type { Check } from '../../core/evidence.ts';
import { slugOf } from '../../core/feedback.ts';
import type { Feedback, LoopState } from '../../core/loop.ts';
import { composePrompt } from '../../core/prompt.ts';
import type { Progress, Turn } from '../../core/turn.ts';
import { agentEnded, decisionEvents, iterationStarted } from '../../journal/turn-events.ts';
import { noSandbox } from '../../sandbox/sandbox.ts';
import { fence, runVerify } from '../run-verify.ts';
import { type AgentTurn, readTurn, sessionCutBy } from './agent-turn.ts';
import { type CheckContext, runCheck } from './check-command.ts';
import { runGuardrails } from './guardrails.ts';
import type { Inspection, Recorder } from './loop-kind.ts';
import type { RunParts, RunSpec } from './run-spec.ts';
import { runScm } from './scm.ts';

export async function runIteration(
  spec: RunSpec,
  before: LoopState,
  parts: RunParts,
): Promise<Decided & { readonly ran: number }> {
  const { clock, kind, workingCopy } = spec;
  const { record } = parts;
  const { iteration, plan } = before;
  const started = clock.monotonic();
  const { task, events } = kind.prepare(iteration, before.task, workingCopy.head());
  const words = [...takeRefusals(parts), ...takeNotes(spec, iteration, record)];
  const loop = { ...before, task, feedback: [...before.feedback, ...words] };
  const prompt = composePrompt(loop);
  record(iterationStarted(loop, prompt, await workingCopy.place(spec.run)));
  for (const event of events) record(event);

  await parts.sandbox.freshHome({ keepSessions: parts.cutSession !== null });
  const agent = await readTurn(spec, { loop, prompt, parts });
  parts.cutSession = kind.resumesSession ? sessionCutBy(agent, spec.agent) : null;
  recordAgentEnd(spec, agent, iteration, record);
  const ownChecks = [...restoreOwnFiles(spec, parts), ...repositoryChecks(workingCopy.lost())];

  const sandbox = spec.settings.sandboxChecks ? parts.sandbox : noSandbox;
  const context: CheckContext = { spec, iteration, sandbox };
  const guardrails = canBeChecked(agent) ? await checkGuardrails(context, record) : [];
  const inspection = await kind.inspect({ ...agent, iteration }, record);
  if (inspection.committed) await workingCopy.forgive();
  const claim = readClaim(agent.text, plan.completion, {
    patternMatched: spec.matchPattern?.(agent.text.join('\n')) ?? false,
    tasksDone: inspection.done,
  });
  const checks = [...ownChecks, ...guardrails, ...inspection.checks];
  if (claim.kind === 'done')
    checks.push(...(await checkClaim(parts, context, { agent, checks, inspection })));

  const turn: Turn = {
    ...agent,
    end: spec.stop.aborted ? 'aborted' : agent.end,
    progress: withNewPasses(kind.progressOf(agent.progress), guardrails, parts.passed),
    endedAt: clock.now(),
    durationMs: Math.round(clock.monotonic() - started),
  };
  const decided = decide(loop, turn, checks, claim);
  if (agent.end === 'finished' && checks.every(({ ok }) => ok)) await commitWork(spec, iteration, parts);
  for (const event of decisionEvents(iteration, decided, await workingCopy.place(spec.run))) record(event);
  return { ...decided, ran: iteration };
}

/** Takes the notes and answers of humans. Each is fenced, so that it cannot pose as the loop. */
function takeNotes(spec: RunSpec, iteration: number, record: Recorder): Feedback[] {
  const answers = iteration === spec.firstIteration ? spec.words : [];
  const notes = [...answers, ...spec.mailbox.takeNotes()].map((text): Feedback => {
    record({ type: 'note', iteration, text });
    return { action: 'APPEND', text: fence('A human left word for you', text, spec.nonce()) };
  });
  if (answers.length > 0) spec.wordsKept();
  return notes;
}

function takeRefusals({ refusals }: RunParts): Feedback[] {
  const lines = [...new Set(refusals.splice(0))].slice(0, mostRefusals).map((line) => `- ${line}`);
  if (lines.length === 0) return [];
  return [{ action: 'APPEND', text: `In the last turn you were refused:\n${lines.join('\n')}` }];
}

const mostRefusals = 5;

function recordAgentEnd(spec: RunSpec, agent: AgentTurn, iteration: number, record: Recorder): void {
  const { sessionId, model, context, unknown, ms, process } = agent;
  const swept = process.sweptPids;
  record(
    agentEnded(iteration, agent, {
      cause: process.cause,
      ms: Math.round(ms),
      ...(context ? { context } : {}),
      ...(sessionId ? { session: sessionId } : {}),
      ...(model ? { model } : {}),
      ...(swept.length > 0 ? { swept } : {}),
      ...(Object.keys(unknown).length > 0 ? { unknownEvents: unknown } : {}),
    }),
  );
  if (spec.kind.traced && swept.length > 0)
    record({ type: 'notice', text: `ended what the turn had left running: ${swept.join(', ')}` });
  for (const denial of spec.mailbox.takeDenials()) record({ type: 'guard.denied', iteration, ...denial });
}

/** Puts files of the loop back that the agent removed or edited, and rejects a claim for it. */
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

/** Fails for a repository that the turn removed: its history is the user's work. */
function repositoryChecks(detail: string | null): Check[] {
  if (detail === null) return [];
  const text = `In the last turn ${detail}. Put it back where it was if you moved it; make no new one in its place.`;
  return [{ check: 'repository', ok: false, detail, feedback: { action: 'APPEND', text } }];
}

function canBeChecked({ end }: AgentTurn): boolean {
  return end !== 'limited' && end !== 'aborted' && end !== 'empty';
}

async function checkGuardrails(context: CheckContext, record: Recorder): Promise<Check[]> {
  const { iteration } = context;
  const checks: Check[] = [];
  for await (const step of runGuardrails(context)) {
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

/** Adds guardrails that pass for the first time to the progress of a turn. */
function withNewPasses(progress: Progress, guardrails: readonly Check[], passed: Set<string>): Progress {
  const newPasses = guardrails.filter((check) => check.ok && !passed.has(check.check));
  for (const check of guardrails) {
    if (check.ok) passed.add(check.check);
    else passed.delete(check.check);
  }
  return newPasses.length === 0
    ? progress
    : { ...progress, other: `${newPasses.map((check) => check.check).join(', ')} passes now` };
}

/** Makes the checks that only a claim needs: slow commands last, and only if nothing has failed before. */
async function checkClaim(
  { watchedFiles, record }: RunParts,
  context: CheckContext,
  turn: { readonly agent: AgentTurn; readonly checks: readonly Check[]; readonly inspection: Inspection },
): Promise<Check[]> {
  const { spec, iteration } = context;
  const checks = [...turn.inspection.evidence, ...(await watchedFiles.check(spec.view.iterations))];
  const good = turn.agent.end === 'finished' && [...turn.checks, ...checks].every(({ ok }) => ok);
  if (!good || spec.stop.aborted || spec.settings.verify.length === 0) return checks;
  const { cwd, run } = spec;
  const results = runVerify(spec.settings.verify, {
    iteration,
    nonce: spec.nonce,
    async run(command, index) {
      const file = runPaths(cwd, run).verifyLog(iteration, `${index + 1}_${slugOf(command)}`);
      const { exitCode, timedOut, ms, output } = await runCheck(command, file, context);
      return { exitCode, timedOut, ms, output, log: relative(cwd, file) };
    },
  });
  for await (const { check, event } of results) {
    record(event);
    checks.push(check);
  }
  // The commands ran code of the agent's, which may have changed what was inspected before.
  const again = await spec.kind.inspect({ ...turn.agent, iteration }, record);
  return [...checks, ...again.checks, ...again.evidence];
}

/** Runs the source control tasks. A failure is recorded, and the work stays uncommitted. */
async function commitWork(spec: RunSpec, iteration: number, { record, sandbox }: RunParts): Promise<void> {
  const { scm } = spec.settings;
  if (!scm || spec.stop.aborted) return;
  try {
    for await (const result of runScm(scm, spec, sandbox))
      record({ type: 'scm.ended', iteration, ...result });
  } catch (error) {
    record({ type: 'scm.ended', iteration, task: scm.tasks.join(', '), ok: false, detail: messageOf(error) });
  }
  await spec.workingCopy.forgive();
}

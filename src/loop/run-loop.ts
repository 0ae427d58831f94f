import type { AgentAdapter, AgentEvent } from '../agents/adapter.ts';
import { decide, newLoop } from '../core/decide.ts';
import { RalphError } from '../core/error.ts';
import type { Check } from '../core/evidence.ts';
import type { LoopPlan, LoopState, Reason } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import { appendContract, completionContract, composePrompt, namesMarker } from '../core/prompt.ts';
import type { Turn } from '../core/turn.ts';
import type { EventBody, JournalEvent } from '../store/events.ts';
import { type Journal, openJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';
import type { Clock } from '../system/clock.ts';
import { readText, writeAtomic } from '../system/files.ts';
import type { Environment } from '../system/process.ts';
import { type AgentTurn, runAgentTurn } from './agent-turn.ts';
import { runGuardrails } from './guardrails.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

/** Takes secrets out of what is kept and shown. */
export type Redactor = {
  text(text: string): string;
  stream(): { push(chunk: Buffer): Buffer; end(): Buffer };
};

export type RunSpec = {
  readonly run: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly settings: ResolvedSettings;
  readonly plan: LoopPlan;
  readonly prompt: { readonly text: string } | { readonly file: string };
  readonly agent: {
    readonly adapter: AgentAdapter;
    readonly program: string;
    readonly version: string | null;
    readonly permissions: 'full' | 'edit' | 'read';
    readonly asRoot: boolean;
  };
  readonly version: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Finish the iteration, then stop. */
  readonly finish: AbortSignal;
  /** Stop at once. */
  readonly stop: AbortSignal;
  readonly matchPattern?: (text: string) => boolean;
  readonly observer: {
    journal(event: JournalEvent): void;
    agent(event: AgentEvent): void;
    stderr(text: string): void;
  };
};

export type RunEnd = { readonly outcome: Outcome; readonly exitCode: number; readonly because: Reason };

/** The outer loop: runs the agent again and again until `decide` says stop. */
export async function runLoop(spec: RunSpec): Promise<RunEnd> {
  const journal = openJournal(runPaths(spec.cwd, spec.run).journal, () => spec.clock.now());
  const record = (body: EventBody): void =>
    spec.observer.journal(journal.append(redacted(body, spec.redactor)));
  try {
    const workspace = await openWorkspace(spec.cwd);
    const started = spec.clock.monotonic();
    let loop = newLoop(spec.plan, readTask(spec));
    record(startEvent(spec, loop));
    for (;;) {
      loop = { ...loop, task: readTask(spec) };
      const decided = await runIteration(spec, loop, workspace, journal, record);
      loop = decided.loop;
      const end = await settle(spec, decided.decision);
      if (!end) continue;
      const { outcome, because } = end;
      const exitCode = outcomes[outcome].exitCode;
      const ms = Math.round(spec.clock.monotonic() - started);
      record({
        type: 'run.ended',
        outcome,
        exitCode,
        because,
        iterations: decided.ran,
        usage: loop.usage,
        ms,
      });
      return { outcome, exitCode, because };
    }
  } finally {
    journal.close();
  }
}

type Record = (body: EventBody) => void;

async function runIteration(
  spec: RunSpec,
  loop: LoopState,
  workspace: Workspace,
  journal: Journal,
  record: Record,
) {
  const { iteration } = loop;
  const started = spec.clock.monotonic();
  if (journal.restore()) record({ type: 'notice', text: 'the journal had been removed and was put back' });
  const prompt = composePrompt(loop);
  record({
    type: 'iteration.started',
    iteration,
    of: loop.plan.limits.iterations,
    promptChars: prompt.length,
  });

  const agentTurn = await runAgent(spec, loop, prompt, workspace, record);
  const progress = await workspace.progress();
  recordAgentEnd(agentTurn, iteration, progress, record);
  const checks = guardrailsApply(agentTurn) ? await checkGuardrails(spec, iteration, record) : [];
  const turn = turnOf(spec, agentTurn, progress, spec.clock.monotonic() - started);

  const decided = decide(loop, turn, checks);
  if (decided.verdict) record({ type: 'verdict', iteration, ...decided.verdict });
  const { plan: _, task: __, ...saved } = decided.loop;
  const { kind, because } = decided.decision;
  const detail =
    decided.decision.kind === 'stop'
      ? { outcome: decided.decision.outcome }
      : decided.decision.kind === 'wait'
        ? { ms: decided.decision.ms }
        : {};
  record({ type: 'decision', iteration, kind, because, ...detail, loop: saved });
  return { ...decided, ran: iteration };
}

/** What follows from a decision: the end of the run, or nothing once the wait is over. */
async function settle(
  spec: RunSpec,
  decision: ReturnType<typeof decide>['decision'],
): Promise<{ outcome: Outcome; because: Reason } | null> {
  const interrupted = {
    outcome: 'INTERRUPTED',
    because: { code: 'interrupted', text: 'stopped by a signal' },
  } as const;
  if (spec.finish.aborted || spec.stop.aborted) return interrupted;
  if (decision.kind === 'stop') return decision;
  if (decision.kind === 'continue') return null;
  await spec.clock.sleep(decision.ms, spec.finish);
  return spec.finish.aborted || spec.stop.aborted ? interrupted : null;
}

async function runAgent(
  spec: RunSpec,
  loop: LoopState,
  prompt: string,
  workspace: Workspace,
  record: Record,
): Promise<AgentTurn> {
  const { adapter, program, version, permissions, asRoot } = spec.agent;
  const { iteration, plan } = loop;
  const paths = runPaths(spec.cwd, spec.run);
  const tellsItself = namesMarker(prompt, plan.completion) || adapter.name === 'custom';
  const bySystem = !tellsItself && adapter.takesSystemPrompt;
  const full = tellsItself || bySystem ? prompt : appendContract(prompt, plan.completion);
  const turn = await runAgentTurn({
    adapter,
    version,
    program,
    task: {
      prompt: full,
      permissions,
      flags: spec.settings.agent.flags,
      asRoot,
      ...(bySystem ? { systemPrompt: completionContract(plan.completion) } : {}),
    },
    cwd: spec.cwd,
    env: { ...spec.env, ...spec.settings.agent.env },
    run: spec.run,
    iteration,
    idleMs: spec.settings.idleTimeout,
    hardMs: spec.settings.iterationTimeout,
    graceMs: spec.settings.exitGrace,
    logFile: paths.stream(iteration),
    redact: spec.redactor.stream(),
    clock: spec.clock,
    stop: spec.stop,
    started(pid, argv) {
      // After the start, so that the agent does not wait for our bookkeeping.
      writeAtomic(paths.prompt(iteration), spec.redactor.text(full), { fsync: false });
      record({ type: 'agent.started', iteration, pid, argv });
    },
    event(event) {
      recordTool(event, iteration, record);
      spec.observer.agent(event);
    },
    stderr: (text) => spec.observer.stderr(text),
    resultSeen: () => workspace.look(),
  });
  if (turn.process.cause === 'not-started') throw notStarted(spec, turn.process.error);
  return turn;
}

function recordTool(event: AgentEvent, iteration: number, record: Record): void {
  if (event.type === 'tool-start') {
    record({ type: 'tool.started', iteration, id: event.id, name: event.name, summary: event.summary });
  } else if (event.type === 'tool-end') {
    const { id, ok, exitCode } = event;
    record({ type: 'tool.ended', iteration, id, ok, ...(exitCode === undefined ? {} : { exitCode }) });
  } else if (event.type === 'todo') {
    record({ type: 'todo', iteration, items: event.items });
  }
}

function recordAgentEnd(
  turn: AgentTurn,
  iteration: number,
  progress: Turn['progress'],
  record: Record,
): void {
  const { end, exitCode, toolCalls, usage, limit, error, sessionId, unknown, process } = turn;
  record({
    type: 'agent.ended',
    iteration,
    end,
    cause: process.cause,
    exitCode,
    toolCalls,
    ms: Math.round(turn.ms),
    progress,
    text: turn.text.join('\n').slice(-2000),
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
    ...(sessionId ? { session: sessionId } : {}),
    ...(process.sweptPids.length > 0 ? { swept: process.sweptPids } : {}),
    ...(Object.keys(unknown).length > 0 ? { unknownEvents: unknown } : {}),
  });
}

/** Where the agent did nothing there is nothing to check. */
function guardrailsApply({ end }: AgentTurn): boolean {
  return end !== 'limited' && end !== 'aborted' && end !== 'empty';
}

async function checkGuardrails(spec: RunSpec, iteration: number, record: Record): Promise<Check[]> {
  const checks: Check[] = [];
  const context = {
    cwd: spec.cwd,
    env: spec.env,
    run: spec.run,
    iteration,
    timeoutMs: spec.settings.guardrailTimeout,
    maxChars: spec.settings.outputTruncateChars,
    clock: spec.clock,
    stop: spec.stop,
    redact: () => spec.redactor.stream(),
  };
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

function turnOf(spec: RunSpec, agentTurn: AgentTurn, progress: Turn['progress'], durationMs: number): Turn {
  const { text, toolCalls, end, exitCode, usage, limit, error } = agentTurn;
  const matched = spec.matchPattern?.(text.join('\n'));
  return {
    text,
    toolCalls,
    end: spec.stop.aborted ? 'aborted' : end,
    exitCode,
    progress,
    endedAt: spec.clock.now(),
    durationMs: Math.round(durationMs),
    ...(usage ? { usage } : {}),
    ...(limit ? { limit } : {}),
    ...(error ? { error } : {}),
    ...(matched === undefined ? {} : { patternMatched: matched }),
  };
}

function startEvent(spec: RunSpec, loop: LoopState): EventBody {
  return {
    type: 'run.started',
    run: spec.run,
    version: spec.version,
    pid: process.pid,
    cwd: spec.cwd,
    agent: spec.agent.adapter.name,
    command: spec.agent.program,
    plan: spec.plan,
    task: loop.task,
    ...('file' in spec.prompt ? { promptFile: spec.prompt.file } : {}),
  };
}

/** A prompt file is read again each time: people edit it while the loop runs. */
function readTask({ prompt }: RunSpec): string {
  if ('text' in prompt) return prompt.text;
  const text = readText(prompt.file);
  if (text === null) {
    throw new RalphError('prompt-file', `the prompt file ${prompt.file} does not exist`, {
      remedy: `write your task to ${prompt.file}, then start again`,
    });
  }
  return text;
}

function notStarted(spec: RunSpec, error: Error | undefined): RalphError {
  const { adapter, program } = spec.agent;
  return new RalphError(
    'agent-not-started',
    `the agent ${program} could not be started: ${error?.message ?? 'unknown'}`,
    {
      remedy: adapter.install,
      exitCode: outcomes.AGENT_FAILED.exitCode,
      cause: error,
    },
  );
}

/** Every text of an event passes here on its way to the disk and the screen. */
function redacted(body: EventBody, redactor: Redactor): EventBody {
  const json = JSON.stringify(body);
  const clean = redactor.text(json);
  return clean === json ? body : (JSON.parse(clean) as EventBody);
}

import type { AgentEvent } from '../../agents/adapter.ts';
import { withGuard } from '../../agents/flags.ts';
import { createTurnReader, type StreamedTurn } from '../../agents/turn.ts';
import { runPaths } from '../../config/paths.ts';
import { RalphError } from '../../core/error.ts';
import type { LoopState } from '../../core/loop.ts';
import { outcomes } from '../../core/outcome.ts';
import { completionContract, namesTag } from '../../core/prompt.ts';
import type { Progress } from '../../core/turn.ts';
import { keepEarlierLog, openStreamLog } from '../../journal/stream-log.ts';
import { streamEvents } from '../../journal/turn-events.ts';
import { ensureDir, writeAtomic } from '../../os/files/files.ts';
import { createLineSplitter } from '../../os/process/lines.ts';
import { keepMemorySmall } from '../../os/process/memory.ts';
import { type ProcessEnd, type RunningProcess, startProcess } from '../../os/process/process.ts';
import { inSandbox } from '../../sandbox/start.ts';
import type { RunAgent, RunParts, RunSpec } from './run-spec.ts';

/** Turn of the agent, from its start to the end of its process tree. */
export type AgentTurn = StreamedTurn & {
  readonly process: ProcessEnd;
  readonly progress: Progress;
  readonly ms: number;
};

type AgentCall = { readonly loop: LoopState; readonly prompt: string; readonly parts: RunParts };

const stderrTailChars = 4000;
const cutOff = 'You were cut off by a limit of the provider. Go on where you stopped. The task is unchanged:';

/** Runs the agent once and reads what it did. */
export async function readTurn(spec: RunSpec, call: AgentCall): Promise<AgentTurn> {
  const { agent, clock, kind, workingCopy } = spec;
  const { iteration, plan } = call.loop;
  const { sandbox, record, cutSession } = call.parts;
  const started = clock.monotonic();
  const logFile = runPaths(spec.cwd, spec.run).stream(iteration);
  keepEarlierLog(logFile);
  const log = openStreamLog(logFile);
  const redact = spec.redactor.stream();
  const reader = createTurnReader(agent.adapter, {
    now: () => clock.now(),
    resumed: cutSession !== null,
    plainText: kind.plainText,
  });
  let stderrTail = '';
  const follow = idleClock(() => process);
  const lines = createLineSplitter((line) => {
    const wasOver = reader.ended;
    for (const event of reader.push(line.toString('utf8'))) {
      follow(event, wasOver);
      for (const body of streamEvents(iteration, event)) record(body);
      spec.observer.agent(event);
    }
    process.touch();
    if (!reader.ended || wasOver) return;
    process.finish();
    // In a sandbox, git does not run here while the agent could still put something in its way.
    if (sandbox.provider === 'none') workingCopy.look();
  });
  const { process, failureOf } = startAgent(spec, call, {
    stdout(chunk) {
      log.write(redact.push(chunk));
      lines.push(chunk);
    },
    stderr(text) {
      stderrTail = `${stderrTail}${text}`.slice(-stderrTailChars);
    },
  });
  try {
    const end = await process.done;
    await sandbox.settle();
    const failure = failureOf(end, stderrTail);
    if (failure) throw failure;
    lines.end();
    log.write(redact.end());
    const turn = reader.finish({ exitCode: end.exitCode, cause: end.cause, stderrTail });
    if (end.error) throw end.error;
    const progress = await workingCopy.progress();
    return {
      ...turn,
      end: plan.retryEmpty && didNothing(turn, progress) ? 'empty' : turn.end,
      text: agent.adapter.endsWithoutResult ? withoutEcho(turn.text, call.prompt) : turn.text,
      process: end,
      progress,
      ms: clock.monotonic() - started,
    };
  } finally {
    log.close();
  }
}

/** Starts the agent's process, and records that it did. */
function startAgent(
  spec: RunSpec,
  { loop, prompt, parts: { sandbox, record, cutSession } }: AgentCall,
  output: { stdout(chunk: Buffer): void; stderr(text: string): void },
) {
  const { agent, cwd, run, settings } = spec;
  const { iteration } = loop;
  const input = withContract(agent, cutSession === null ? prompt : `${cutOff}\n\n${prompt}`, loop);
  const task = {
    ...agentTask(spec),
    ...input,
    ...(cutSession === null ? {} : { resumeSession: cutSession }),
  };
  const { args, stdin, env } = agent.adapter.command(task, agent.version, 'stream');
  const argv = [agent.program, ...args] as const;
  const inside = inSandbox(sandbox, argv, {
    env: { ...spec.env, ...spec.kind.env },
    alone: { ...settings.agent.env, ...agent.guard.env, ...env },
    cwd,
    stdin,
  });
  const process = startProcess({
    ...inside,
    cwd,
    runId: run,
    traced: spec.kind.traced && sandbox.provider === 'none',
    iteration,
    idleMs: settings.idleTimeout,
    hardMs: settings.iterationTimeout,
    graceMs: settings.exitGrace,
    clock: spec.clock,
    stop: spec.stop,
    onStdout: output.stdout,
    onStderr(chunk) {
      const text = chunk.toString('utf8');
      output.stderr(text);
      spec.observer.stderr(inside.withoutMarker(text));
    },
  });
  // After the start, so that the agent does not wait for our bookkeeping.
  const paths = runPaths(cwd, run);
  ensureDir(paths.iterations);
  writeAtomic(paths.prompt(iteration), spec.redactor.text(input.prompt), { fsync: false });
  record({ type: 'agent.started', iteration, pid: process.pid, argv });
  keepMemorySmall();
  return {
    process,
    failureOf({ cause, exitCode, error }: ProcessEnd, stderr: string): Error | null {
      if (cause === 'not-started') return notStarted(agent, error);
      return (cause === 'exited' && inside.failure?.(exitCode, stderr)) || null;
    },
  };
}

/** Returns the options that every call of the agent has. */
export function agentTask({ agent, settings }: Pick<RunSpec, 'agent' | 'settings'>) {
  const { permissions, asRoot, guard } = agent;
  return { permissions, asRoot, flags: withGuard(guard, settings.agent.flags) };
}

/** Adds the completion contract to a prompt, unless the task names the tag itself. */
export function withContract(
  { adapter }: RunAgent,
  prompt: string,
  { task, plan }: Pick<LoopState, 'task' | 'plan'>,
): { readonly prompt: string; readonly systemPrompt?: string } {
  const contract = completionContract(plan.completion);
  const namesItself = namesTag(task, plan.completion) || adapter.name === 'custom';
  if (contract === null || namesItself) return { prompt };
  if (adapter.takesSystemPrompt) return { prompt, systemPrompt: contract };
  return { prompt: `${prompt}\n\n${contract}` };
}

/** Returns the session to continue when the iteration is run again; null if the agent had done nothing yet. */
export function sessionCutBy(
  { limit, sessionId, toolCalls }: AgentTurn,
  { adapter }: RunAgent,
): string | null {
  const waits = limit?.kind === 'usage' || limit?.kind === 'overload';
  return waits && adapter.canResume && sessionId !== undefined && (toolCalls ?? 0) > 0 ? sessionId : null;
}

/** Stops the idle clock while a tool runs, and lets an agent go on that works after its result. */
function idleClock(running: () => RunningProcess): (event: AgentEvent, wasOver: boolean) => void {
  const openTools = new Set<string>();
  return (event, wasOver) => {
    const process = running();
    if (event.type === 'tool-start') openTools.add(event.id);
    if (event.type === 'tool-end') openTools.delete(event.id);
    if (openTools.size > 0) process.pauseIdle();
    else process.resumeIdle();
    // For instance when a background task comes back.
    if (wasOver && (event.type === 'text' || event.type === 'tool-start')) process.reopen();
    if (wasOver && event.type === 'result') process.finish();
  };
}

/** True if the turn ended well, but without a word, a tool call or a change. */
function didNothing(
  { end, text, toolCalls, failedCalls }: StreamedTurn,
  { commits, filesChanged }: Progress,
): boolean {
  const calls = (toolCalls ?? 0) + failedCalls;
  const silent = end === 'finished' && calls === 0 && text.every((block) => block.trim() === '');
  return silent && commits === 0 && filesChanged === 0;
}

/** Takes the prompt out of the answer: a program that prints its input, such as `cat`, has said nothing. */
function withoutEcho(text: readonly string[], prompt: string): string[] {
  return text.map((block) => block.replace(prompt.trim(), () => ''));
}

/** Returns the error for an agent whose program is missing. */
export function agentMissing(command: string, { install }: RunAgent['adapter']): RalphError {
  return new RalphError('agent-missing', `the agent "${command}" is not installed, or not on the PATH`, {
    remedy: install,
    exitCode: outcomes.AGENT_FAILED.exitCode,
  });
}

function notStarted({ adapter, program }: RunAgent, error: Error | undefined): RalphError {
  const why = error?.message ?? 'unknown reason';
  return new RalphError('agent-not-started', `the agent ${program} could not be started: ${why}`, {
    remedy: adapter.install,
    exitCode: outcomes.AGENT_FAILED.exitCode,
    cause: error,
  });
}

import type { AgentEvent } from '../../agents/adapter.ts';
import { withGuard } from '../../agents/command.ts';
import { createTurnReader, type StreamedTurn, type TurnReader } from '../../agents/turn.ts';
import { runPaths } from '../../config/paths.ts';
import { RalphError } from '../../core/error.ts';
import type { LoopState } from '../../core/loop.ts';
import { outcomes } from '../../core/outcome.ts';
import { completionContract, namesTag } from '../../core/prompt.ts';
import type { Progress } from '../../core/turn.ts';
import { keepEarlierLog, openStreamLog } from '../../journal/stream-log.ts';
import { streamEvents } from '../../journal/turn-events.ts';
import { machineFailure } from '../../os/files/file-error.ts';
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
  const { agent, clock, workingCopy } = spec;
  const { iteration } = call.loop;
  const { sandbox, record } = call.parts;
  const started = clock.monotonic();
  const acp = agent.adapter.protocol === 'acp' ? await import('./acp/conversation.ts') : null;
  const log = openLog(spec, iteration);
  const reader = openReader(spec, call);
  let stderrTail = '';
  const follow = idleClock(() => process, agent.adapter);
  const onLine = (text: string) => {
    const wasOver = reader.ended;
    if (conversation !== null) log.write(Buffer.from(`${text}\n`));
    for (const event of reader.push(text)) {
      follow(event, wasOver);
      for (const body of streamEvents(iteration, event)) record(body);
      spec.observer.agent(event);
    }
    process.touch();
    conversation?.hear(text);
    if (!reader.ended || wasOver) return;
    process.finish();
    process.input.close();
    // In a sandbox, git does not run here while the agent could still put something in its way.
    if (sandbox.provider === 'none') workingCopy.look();
  };
  const lines = createLineSplitter((line) => onLine(line.toString('utf8')));
  const { process, conversation, bookStart, failureOf } = startAgent(spec, call, {
    acp,
    addLine: onLine,
    stdout(chunk) {
      if (acp === null) log.write(chunk);
      lines.push(chunk);
    },
    stderr(text) {
      stderrTail = `${stderrTail}${text}`.slice(-stderrTailChars);
    },
  });
  try {
    bookStart();
    const end = await process.done;
    conversation?.close();
    await sandbox.settle();
    const failure = failureOf(end, stderrTail);
    if (failure) throw failure;
    lines.end();
    log.end();
    const turn = reader.finish({ exitCode: end.exitCode, cause: end.cause, stderrTail });
    if (end.error) throw end.error;
    const progress = await workingCopy.progress();
    return { ...asTurn(turn, progress, spec, call), process: end, ms: clock.monotonic() - started };
  } catch (error) {
    // Nobody watches it any more, and the next loop must not meet it.
    process.stop();
    await process.done;
    throw error;
  } finally {
    log.close();
  }
}

function openReader({ agent, clock, kind }: RunSpec, { parts: { cutSession } }: AgentCall): TurnReader {
  return createTurnReader(agent.adapter, {
    now: () => clock.now(),
    resumed: cutSession !== null,
    plainText: kind.plainText,
  });
}

/** Opens the log of the agent's stream, which keeps no secrets. */
function openLog({ cwd, run, redactor }: RunSpec, iteration: number) {
  const file = runPaths(cwd, run).stream(iteration);
  keepEarlierLog(file);
  const log = openStreamLog(file);
  const redact = redactor.stream();
  return {
    write: (chunk: Buffer) => log.write(redact.push(chunk)),
    end: () => log.write(redact.end()),
    close: () => log.close(),
  };
}

function asTurn(turn: StreamedTurn, progress: Progress, { agent }: RunSpec, { loop, prompt }: AgentCall) {
  return {
    ...turn,
    end: loop.plan.retryEmpty && didNothing(turn, progress) ? ('empty' as const) : turn.end,
    text: agent.adapter.endsWithoutResult ? withoutEcho(turn.text, prompt) : turn.text,
    progress,
  };
}

function startAgent(
  spec: RunSpec,
  { loop, prompt, parts: { sandbox, record, refusals, cutSession } }: AgentCall,
  output: {
    readonly acp: typeof import('./acp/conversation.ts') | null;
    addLine(line: string): void;
    stdout(chunk: Buffer): void;
    stderr(text: string): void;
  },
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
  const conversation =
    output.acp?.openConversation(spec, { ...task, iteration, record, refusals, addLine: output.addLine }) ??
    null;
  const argv = [agent.program, ...args] as const;
  const inside = inSandbox(sandbox, argv, {
    env: { ...spec.env, ...spec.kind.env },
    alone: { ...settings.agent.env, ...agent.guard.env, ...env },
    cwd,
    stdin: conversation?.opening ?? stdin,
  });
  const process = startProcess({
    ...inside,
    ...(conversation === null ? {} : { keepsInput: true, askToStop: conversation.cancel }),
    ...limitsOf(spec),
    traced: spec.kind.traced && sandbox.provider === 'none',
    iteration,
    onStdout: output.stdout,
    onStderr(chunk) {
      const text = chunk.toString('utf8');
      output.stderr(text);
      spec.observer.stderr(inside.withoutMarker(text));
    },
  });
  conversation?.connect(process.input);
  return {
    process,
    conversation,
    /** Comes after the start, so that the agent does not wait for it. */
    bookStart(): void {
      const paths = runPaths(cwd, run);
      ensureDir(paths.iterations);
      writeAtomic(paths.prompt(iteration), spec.redactor.text(input.prompt), { fsync: false });
      record({ type: 'agent.started', iteration, pid: process.pid, argv });
      keepMemorySmall();
    },
    failureOf({ cause, exitCode, error }: ProcessEnd, stderr: string): Error | null {
      if (cause === 'not-started') return notStarted(agent, error);
      return (cause === 'exited' && inside.failure?.(exitCode, stderr)) || null;
    },
  };
}

function limitsOf({ cwd, run, settings, clock, stop }: RunSpec) {
  const { idleTimeout: idleMs, iterationTimeout: hardMs, exitGrace: graceMs } = settings;
  return { cwd, runId: run, idleMs, hardMs, graceMs, clock, stop };
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
function idleClock(
  running: () => RunningProcess,
  { protocol }: RunAgent['adapter'],
): (event: AgentEvent, wasOver: boolean) => void {
  const openTools = new Set<string>();
  return (event, wasOver) => {
    const process = running();
    if (event.type === 'tool-start') openTools.add(event.id);
    if (event.type === 'tool-end') openTools.delete(event.id);
    if (openTools.size > 0) process.pauseIdle();
    else process.resumeIdle();
    // The response to a prompt is the end, whatever follows it.
    if (protocol === 'acp') return;
    // For instance when a background task comes back.
    if (wasOver && (event.type === 'text' || event.type === 'tool-start')) process.reopen();
    if (wasOver && event.type === 'result') process.finish();
  };
}

/** True if the turn ended well, but without a word, a tool call or a change. */
function didNothing(
  { end, text, toolCalls, failedCalls }: StreamedTurn,
  { commits, filesChanged }: Progress,
) {
  const calls = (toolCalls ?? 0) + failedCalls;
  const silent = end === 'finished' && calls === 0 && text.every((block) => block.trim() === '');
  return silent && commits === 0 && filesChanged === 0;
}

/** Takes the prompt out of the answer: a program that prints its input, such as `cat`, has said nothing. */
function withoutEcho(text: readonly string[], prompt: string): string[] {
  return text.map((block) => block.replace(prompt.trim(), () => ''));
}

export function agentMissing(command: string, { install }: RunAgent['adapter']): RalphError {
  return new RalphError('agent-missing', `the agent "${command}" is not installed, or not on the PATH`, {
    remedy: install,
    exitCode: outcomes.AGENT_FAILED.exitCode,
  });
}

function notStarted({ adapter, program }: RunAgent, error: Error | undefined): RalphError {
  const limit = machineFailure(error);
  if (limit !== null) return limit;
  const why = error?.message ?? 'unknown reason';
  return new RalphError('agent-not-started', `the agent ${program} could not be started: ${why}`, {
    remedy: adapter.install,
    exitCode: outcomes.AGENT_FAILED.exitCode,
    cause: error,
  });
}

import { withGuard } from '../agents/flags.ts';
import { RalphError } from '../core/error.ts';
import type { LoopState } from '../core/loop.ts';
import { outcomes } from '../core/outcome.ts';
import { completionContract, namesMarker } from '../core/prompt.ts';
import type { Sandbox } from '../safety/sandbox/sandbox.ts';
import { runPaths } from '../store/paths.ts';
import { keepEarlierLog } from '../store/stream-log.ts';
import { ensureDir, writeAtomic } from '../system/files.ts';
import { type AgentTurn, runAgentTurn } from './agent-turn.ts';
import { recordTool } from './record.ts';
import type { Recorder, RunAgent, RunSpec } from './run-spec.ts';
import { runSideProcess } from './side-process.ts';

const messageTimeoutMs = 5 * 60_000;

/** The prompt and system prompt of a turn, with the way to finish told once: by the task itself, or by the contract. */
export function instructAgent(
  agent: RunAgent,
  prompt: string,
  { task, plan }: Pick<LoopState, 'task' | 'plan'>,
) {
  const contract = completionContract(plan.completion);
  const toldAlready = namesMarker(task, plan.completion) || agent.adapter.name === 'custom';
  if (contract === null || toldAlready) return { prompt };
  if (agent.adapter.takesSystemPrompt) return { prompt, systemPrompt: contract };
  return { prompt: `${prompt}\n\n${contract}` };
}

const goOn = 'You were cut off by a limit of the provider. Go on where you stopped. The task is unchanged:';

export type AgentCall = {
  readonly prompt: string;
  /** The agent's session that a limit cut off in this iteration. */
  readonly cutSession: string | null;
  readonly record: Recorder;
  readonly sandbox: Sandbox;
  started(): void;
  resultSeen(): unknown;
};

/** Runs the agent for one iteration. */
export async function runAgent(spec: RunSpec, loop: LoopState, call: AgentCall): Promise<AgentTurn> {
  const { record, sandbox, cutSession, resultSeen } = call;
  const { adapter, program, version, permissions, asRoot, guard } = spec.agent;
  const { iteration } = loop;
  const paths = runPaths(spec.cwd, spec.run);
  const prompt = cutSession === null ? call.prompt : `${goOn}\n\n${call.prompt}`;
  const instructed = instructAgent(spec.agent, prompt, loop);
  keepEarlierLog(paths.stream(iteration));
  const turn = await runAgentTurn({
    adapter,
    version,
    program,
    task: {
      ...instructed,
      permissions,
      asRoot,
      flags: withGuard(guard, spec.settings.agent.flags),
      ...(cutSession === null ? {} : { resumeSession: cutSession }),
    },
    sandbox,
    cwd: spec.cwd,
    env: { ...spec.env, ...spec.stage?.env, ...spec.settings.agent.env, ...guard.env },
    run: spec.run,
    iteration,
    idleMs: spec.settings.idleTimeout,
    hardMs: spec.settings.iterationTimeout,
    graceMs: spec.settings.exitGrace,
    traced: spec.stage !== undefined,
    plainText: spec.stage !== undefined,
    logFile: paths.stream(iteration),
    redact: spec.redactor.stream(),
    clock: spec.clock,
    stop: spec.stop,
    started(pid, argv) {
      // After the start, so that the agent does not wait for our bookkeeping.
      ensureDir(paths.iterations);
      writeAtomic(paths.prompt(iteration), spec.redactor.text(instructed.prompt), { fsync: false });
      record({ type: 'agent.started', iteration, pid, argv });
      call.started();
    },
    event(event) {
      recordTool(event, iteration, record);
      spec.observer.agent(event);
    },
    stderr: (text) => spec.observer.stderr(text),
    resultSeen,
  });
  if (turn.process.cause === 'not-started') throw notStarted(spec.agent, turn.process.error);
  return turn;
}

/** The session to continue when the same iteration is run again; a fresh start where the agent had done nothing yet. */
export function sessionCutBy(
  { limit, sessionId, toolCalls }: AgentTurn,
  { adapter }: RunAgent,
): string | null {
  const waits = limit?.kind === 'usage' || limit?.kind === 'overload';
  return waits && adapter.canResume && sessionId !== undefined && (toolCalls ?? 0) > 0 ? sessionId : null;
}

/** Asks the same agent one short question, outside the loop. Gives what it printed. */
export async function askAgent(spec: RunSpec, sandbox: Sandbox, prompt: string): Promise<string> {
  const { adapter, program, version, permissions, asRoot, guard } = spec.agent;
  const flags = withGuard(guard, spec.settings.agent.flags);
  const task = { prompt, permissions, asRoot, flags };
  const { args, stdin, env } = adapter.command(task, version, 'text');
  const { end, stdout } = await runSideProcess(spec, [program, ...args], {
    env: { ...spec.env, ...spec.settings.agent.env, ...guard.env, ...env },
    stdin,
    sandbox,
    timeoutMs: messageTimeoutMs,
  });
  return end.exitCode === 0 ? stdout : '';
}

function notStarted({ adapter, program }: RunAgent, error: Error | undefined): RalphError {
  const why = error?.message ?? 'unknown reason';
  return new RalphError('agent-not-started', `the agent ${program} could not be started: ${why}`, {
    remedy: adapter.install,
    exitCode: outcomes.AGENT_FAILED.exitCode,
    cause: error,
  });
}

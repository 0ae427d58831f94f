import { newLoop } from '../core/decide.ts';
import { type LoopPlan, noLimits } from '../core/loop.ts';
import type { EventBody } from '../store/events.ts';
import { newRunId } from '../store/runs.ts';
import { createSessionLoop, readSessionLoop, type SessionLoop } from '../store/session-loops.ts';
import { iterationStarted } from '../store/turn-events.ts';
import { fileSize } from '../system/scan-lines.ts';
import { type LoopOptions, parseLoopCommand } from './command-line.ts';
import type { SessionContext } from './context.ts';
import { iterationText, startMessage } from './messages.ts';
import { recorder } from './record.ts';
import type { Reply } from './reply.ts';
import { silent } from './reply.ts';

/** A loop command as the host gives it: the words after its name, untouched. */
export type StartEvent = {
  readonly host: string;
  readonly sessionId: string;
  readonly command: 'ralph-loop' | 'ulw-loop';
  readonly args: string;
  readonly cwd: string;
  readonly promptId: string | null;
  readonly transcriptPath: string | null;
  /** 1 where the first prompt is the first iteration; 0, where only those that are sent back count, unless told. */
  readonly firstIteration?: 1;
  /** Failed turns in a row that end the loop, where the host tells of them. */
  readonly maxFailures?: number;
};

/** Three turns without a tool call end a loop: below the eight after which Claude Code overrides a stop hook. */
const stalledTurns = 3;

/** Starts a loop in this session, unless the words are wrong or it has one. */
export function startSessionLoop(event: StartEvent, context: SessionContext): Reply {
  const { env, now, version } = context;
  const parsed = parseLoopCommand(event.args);
  if (!parsed.ok) return { kind: 'answer', message: `Ralph loop not started. ${parsed.message}` };
  const state = newState(event, parsed.task, parsed.options, context);
  const message = startMessage(state);
  if (createSessionLoop(env, state, recorder(startEvents(state, version, message), now))) {
    return { kind: 'context', message, notice: startNotice(state) };
  }
  const other = readSessionLoop(env, event.sessionId);
  if (other.kind !== 'loop' || isSamePrompt(other.state, state)) return silent;
  return {
    kind: 'answer',
    message: `Ralph loop not started: ${other.state.run} is ${other.state.status} in this session (${iterationText(other.state.loop)}). /cancel-ralph ends it.`,
  };
}

function startEvents(state: SessionLoop, version: string, prompt: string): EventBody[] {
  const { run, cwd, host, command, loop } = state;
  const { plan, task } = loop;
  const { pid } = process;
  return [
    { type: 'run.started', run, version, pid, cwd, agent: host, command: `/${command}`, plan, task, cli: [] },
    iterationStarted(loop, prompt),
  ];
}

function newState(
  event: StartEvent,
  task: string,
  options: LoopOptions,
  context: SessionContext,
): SessionLoop {
  const at = context.now();
  const run = newRunId(at);
  const path = event.transcriptPath;
  return {
    v: 1,
    host: event.host,
    sessionId: event.sessionId,
    cwd: event.cwd,
    run,
    command: event.command,
    status: 'active',
    loop: newLoop(planOf(run, options, event.maxFailures), task, event.firstIteration ?? 0),
    verify: options.verify,
    minToolCalls: options.minToolCalls,
    onPromiseNoWork: options.onPromiseNoWork,
    promptId: event.promptId,
    driver: context.driver,
    transcript: { path, offset: path === null ? 0 : (fileSize(path) ?? 0), unseen: null },
    startedAt: at,
    turnStartedAt: at,
    updatedAt: at,
    revision: 1,
  };
}

function planOf(id: string, options: LoopOptions, failures = noLimits.failures): LoopPlan {
  return {
    id,
    completion: { promise: { token: options.completionPromise, match: options.promiseMatch } },
    limits: {
      ...noLimits,
      iterations: options.maxIterations,
      wallMs: options.maxTimeMs,
      failures,
      withoutTools: stalledTurns,
    },
    minToolCalls: options.onPromiseNoWork === 'reject' ? options.minToolCalls : 0,
    countInPrompt: false,
  };
}

function startNotice({ run, loop: { plan }, verify }: SessionLoop): string {
  const checked = verify.length === 0 ? '' : `, verified with ${verify.join(' and ')}`;
  return `Ralph loop ${run} started: at most ${plan.limits.iterations} iterations, done is <promise>${plan.completion.promise?.token}</promise>${checked}. /cancel-ralph ends it.`;
}

/** One prompt comes as two events where a host knows the command itself. */
function isSamePrompt(running: SessionLoop, wanted: SessionLoop): boolean {
  if (running.promptId !== null || wanted.promptId !== null) return running.promptId === wanted.promptId;
  return running.loop.task === wanted.loop.task && wanted.startedAt - running.startedAt < 10_000;
}

import { join } from 'node:path';
import { newLoop } from '../../core/decide.ts';
import { type LoopPlan, noLimits } from '../../core/loop.ts';
import type { EventBody } from '../../journal/events.ts';
import { newRunId } from '../../journal/runs.ts';
import { iterationStarted } from '../../journal/turn-events.ts';
import { fileSize } from '../../os/files/scan-lines.ts';
import { watchCheckFiles } from './check-files.ts';
import { type LoopOptions, parseLoopCommand } from './command-line.ts';
import type { StartName } from './commands.ts';
import { type Reply, type SessionContext, silent } from './hook-reply.ts';
import { iterationText, mostTaskChars, startMessage } from './loop-messages.ts';
import { openLoop, openSessionLoop, type SessionLoop } from './session-loops.ts';
import { recordPaths } from './session-paths.ts';

/** A loop command of a host, with the raw text after its name. */
type StartEvent = {
  readonly host: string;
  readonly sessionId: string;
  readonly command: StartName;
  readonly args: string;
  readonly cwd: string;
  readonly promptId: string | null;
  readonly transcriptPath: string | null;
  /** True if the host hears the user only after Escape. */
  readonly needsEscape?: boolean | undefined;
  /** File that shows that something else may send the agent back, too. */
  readonly otherLoop?: string | undefined;
};

/** Three turns without a tool call end a loop: below the eight after which Claude Code overrides a stop hook. */
const stalledTurns = 3;
/** Errors of the API in a row that are an outage. */
const maxFailures = 5;

/** Starts a loop in this session, unless the words are wrong or it has one. */
export function startSessionLoop(event: StartEvent, context: SessionContext): Reply {
  const { env, version } = context;
  const command = parseLoopCommand(event.args);
  if (!command.ok) return { kind: 'answer', message: `Ralph loop not started. ${command.message}` };
  const state = newState(event, command.task, command.options, context);
  const message = startMessage(state);
  const earlier = openLoop(env, event.sessionId);
  if (earlier === null) {
    watchCheckFiles(state, context, { resumed: false });
    if (openSessionLoop(context, state, startEvents(state, version, message)))
      return { kind: 'context', message, notice: startNotice(state, event) };
  }
  const other = earlier ?? openLoop(env, event.sessionId);
  if (other === null || isSamePrompt(other, state)) return silent;
  return {
    kind: 'answer',
    message: `Ralph loop not started: ${other.run} is ${other.status} in this session (${iterationText(other.loop)}). /cancel-ralph ends it.`,
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
    loop: newLoop(planOf(run, options), task, 0),
    verify: options.verify,
    minToolCalls: options.minToolCalls,
    onPromiseNoWork: options.onPromiseNoWork,
    promptId: event.promptId,
    driver: context.driver,
    ...(task.length > mostTaskChars
      ? { taskFile: join(recordPaths(context.env, run).root, 'task.txt') }
      : {}),
    transcript: { path, offset: path === null ? 0 : (fileSize(path) ?? 0), unseen: null },
    startedAt: at,
    turnStartedAt: at,
    updatedAt: at,
    revision: 1,
  };
}

function planOf(id: string, options: LoopOptions): LoopPlan {
  return {
    id,
    completion: { promise: { token: options.completionPromise, match: options.promiseMatch } },
    limits: {
      ...noLimits,
      iterations: options.maxIterations,
      wallMs: options.maxTimeMs,
      failures: maxFailures,
      withoutTools: stalledTurns,
    },
    minToolCalls: options.onPromiseNoWork === 'reject' ? options.minToolCalls : 0,
    countInPrompt: false,
    // An error of the API is no turn.
    retryEmpty: true,
  };
}

function startNotice({ run, loop: { plan }, verify }: SessionLoop, { needsEscape, otherLoop }: StartEvent) {
  const checks = verify.length === 0 ? '' : `, verified with ${verify.join(' and ')}`;
  const cancel = needsEscape ? 'While it works, press Escape before you type: ' : '';
  const warning = otherLoop
    ? ` Another loop may send the agent back here, too: see ${otherLoop}, and end one of them.`
    : '';
  return `Ralph loop ${run} started: at most ${plan.limits.iterations} iterations, done is <promise>${plan.completion.promise?.token}</promise>${checks}. ${cancel}/cancel-ralph ends it.${warning}`;
}

/** True for the second event of a prompt: hosts that know the command themselves send two. Old ones send no prompt id. */
function isSamePrompt(a: SessionLoop, b: SessionLoop): boolean {
  if (a.promptId !== null || b.promptId !== null) return a.promptId === b.promptId;
  return a.revision === b.revision && a.loop.task === b.loop.task;
}

import type { Clock } from '../../../os/clock.ts';
import { cancelLoop } from '../../session/control.ts';
import type { SessionContext } from '../../session/hook-reply.ts';
import { ultrawork } from '../../session/loop-messages.ts';
import {
  listEndedLoops,
  openLoop,
  type SessionLoop,
  type TranscriptMark,
  updateSessionLoop,
} from '../../session/session-loops.ts';
import { hasSessionLoop } from '../../session/session-paths.ts';
import { atStop } from '../../session/stop.ts';
import type { TurnRead } from '../../session/transcript.ts';
import { continuationOf } from '../detect.ts';
import { isFromAssistant, type Message, markOf, messagesSince, readAnswer } from '../host-messages.ts';
import { type Continuation, createIdleDriver, type IdleTurn } from '../idle-driver.ts';
import type { LoopFacts, Toaster } from '../toaster.ts';
import type { createHost } from './client.ts';

const recoveryMs = 5000;

type DriverOptions = {
  readonly host: ReturnType<typeof createHost>;
  readonly toasts: Toaster;
  readonly context: SessionContext;
  readonly clock: Clock;
};

export type OpenCodeDriver = ReturnType<typeof createOpenCodeDriver>;

/** Drives the loops of OpenCode sessions, whose state is that of every session loop. */
export function createOpenCodeDriver(options: DriverOptions) {
  const { host, context, clock } = options;
  const { env } = context;
  const { log, getMessages, injectPrompt } = host;
  const driver = createIdleDriver({
    clock,
    log,
    delayMs: 0,
    recoveryMs,
    getMessages,
    injectPrompt,
    judge: (turn) => judge(options, turn),
  });
  const { userWrote, forget, dispose } = driver;
  return {
    async idle(id: string): Promise<void> {
      if (hasSessionLoop(env, id)) await driver.idle(id);
    },
    failed(id: string, error: string): void {
      if (hasSessionLoop(env, id)) driver.failed(id, error);
    },
    end(id: string, why: string): void {
      forget(id);
      for (let state = openLoop(env, id); state !== null; state = openLoop(env, id)) {
        if (cancelLoop(state, context, why)) return;
      }
    },
    userWrote,
    forget,
    dispose,
  };
}

async function judge(options: DriverOptions, { id, messages, error }: IdleTurn) {
  const { toasts, context } = options;
  const before = openLoop(context.env, id);
  if (before === null) return null;
  const session = readSession(messages);
  // Ignores a second idle event of a turn that was judged already: there is no answer yet.
  if (error === null && !session.isAnswered(before.transcript)) return null;
  const event = { sessionId: id, subagent: false, planMode: false, backgroundTasks: [], continuation };
  const reply = await atStop({ ...event, readTurn: (from) => session.readTurn(from, error) }, context);
  const after = openLoop(context.env, id);
  if (reply.kind === 'notice') {
    const end = listEndedLoops(context.env).find(({ run }) => run === before.run);
    if (end?.loop.outcome) toasts.ended(loopFacts(before), end.loop.outcome, reply.notice);
    else toasts.notice(reply.notice);
  }
  if (reply.kind !== 'continue' || after === null) return null;
  return continuationFor(options, before, after, reply.message);
}

function continuationFor(
  { toasts, context }: DriverOptions,
  before: SessionLoop,
  after: SessionLoop,
  prompt: string,
): Continuation {
  const { loop, transcript, turnStartedAt } = before;
  return {
    prompt,
    isCurrent: () => openLoop(context.env, before.sessionId)?.revision === after.revision,
    sending: () => toasts.iteration(loopFacts(after)),
    takeBack(why) {
      const text = `iteration ${after.loop.iteration} was not started: ${why}`;
      const change = { loop, transcript, turnStartedAt };
      updateSessionLoop(context, after, change, [{ type: 'notice', text }]);
    },
    failed: (why) => toasts.notContinued(loopFacts(after), why),
  };
}

export function loopFacts({ loop: { iteration, plan } }: SessionLoop): LoopFacts {
  const { limits, completion } = plan;
  return {
    iteration,
    maxIterations: limits.iterations ?? Number.POSITIVE_INFINITY,
    completionPromise: completion.promise?.token ?? '',
  };
}

/** Reads the messages of a session. OpenCode has no transcript file: a mark is the number of messages and the last id. */
export function readSession(messages: readonly Message[]) {
  const { count, id } = markOf(messages);
  const mark = { path: null, offset: count, unseen: id };
  const messagesFrom = ({ offset, unseen }: TranscriptMark) =>
    messagesSince(messages, { count: offset, id: unseen });
  return {
    mark,
    /** True if the assistant said or did something since the mark, and nothing of it is still under way. */
    isAnswered: (since: TranscriptMark) =>
      messagesFrom(since).some(isFromAssistant) && !messages.at(-1)?.underWay,
    readTurn(since: TranscriptMark, error: string | null): TurnRead {
      const answer = readAnswer(messagesFrom(since), error);
      return { ...answer, toolCalls: answer.toolCalls ?? 0, interrupted: false, askedSince: false, mark };
    },
  };
}

function continuation({ command, loop }: SessionLoop): string {
  return continuationOf(loop, command === 'ulw-loop' ? ultrawork : undefined);
}

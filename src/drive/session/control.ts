import type { Reason } from '../../core/loop.ts';
import { runEnded } from '../../journal/turn-events.ts';
import type { ControlName } from './commands.ts';
import { type Reply, type SessionContext, silent } from './hook-reply.ts';
import {
  endMessage,
  isResumable,
  iterationText,
  orphanText,
  startMessage,
  statusMessage,
} from './loop-messages.ts';
import {
  endSessionLoop,
  lastEnded,
  listSessionLoops,
  readSessionLoop,
  reopenSessionLoop,
  type SessionLoop,
  updateSessionLoop,
} from './session-loops.ts';
import type { ReadTurn, TurnRead } from './transcript.ts';

type ControlEvent = {
  readonly control: ControlName;
  readonly sessionId: string;
  readonly promptId: string | null;
  /** Reads the turn that the command broke into; absent where nobody can. */
  readonly readTurn?: ReadTurn;
  /** Folder whose other loops are listed to a session that has none. */
  readonly cwd?: string;
};

/** Answers a command about the loop of this session; only a resume reaches the model. */
export function controlLoop(event: ControlEvent, context: SessionContext): Reply {
  // Reads the loop again if a hook changed it between our read and our write.
  for (;;) {
    const lookup = readSessionLoop(context.env, event.sessionId);
    if (lookup.kind === 'set-aside') return { kind: 'answer', message: setAsideText(lookup.path) };
    if (lookup.kind === 'none') return withoutLoop(event, context);
    const reply = answer(event, lookup.state, context);
    if (reply) return reply;
  }
}

/** Answers a session without a loop. One that ended for a human can be resumed. */
function withoutLoop(
  { control, sessionId, promptId, readTurn, cwd }: ControlEvent,
  context: SessionContext,
): Reply {
  const { env, now } = context;
  const last = lastEnded(env, sessionId);
  if (last && control === 'ralph-resume' && isResumable(last.loop.outcome)) {
    const at = now();
    const loop = { ...last.loop, outcome: null, failures: 0, withoutTools: 0, withoutSign: 0, refusals: 0 };
    const { mark: transcript } = turnOf(last, readTurn);
    const times = { turnStartedAt: at, updatedAt: at };
    const state = {
      ...last,
      loop,
      transcript,
      status: 'active',
      driver: context.driver,
      promptId,
      ...times,
    } as const;
    if (reopenSessionLoop(context, state)) return goesOn(state);
  }
  const others = listSessionLoops(env).filter((state) => state.cwd === cwd && state.sessionId !== sessionId);
  const message = [
    `There is no Ralph loop in this session.${last ? ` The last one ended: ${last.loop.outcome} (ralph show ${last.run}).` : ''} Start one: /ralph-loop "task"`,
    ...others.map((state) => orphanText(state, now())),
  ];
  return { kind: 'answer', message: message.join('\n') };
}

/** Pauses the loop; silent if another hook changed it meanwhile. */
export function pauseLoop(
  state: SessionLoop,
  turn: SkippedTurn,
  why: string,
  context: SessionContext,
): Reply {
  const change = { ...skipTurn(state, turn), status: 'paused', updatedAt: context.now() } as const;
  if (!updateSessionLoop(context, state, change, [{ type: 'paused', because: `paused: ${why}` }]))
    return silent;
  return {
    kind: 'notice',
    notice: `Ralph loop paused: ${why}. /ralph-resume goes on, /cancel-ralph ends it.`,
  };
}

type SkippedTurn = Pick<TurnRead, 'mark' | 'toolCalls'>;

/** Moves past a turn that nobody judges: its tool calls count, its words do not. */
export function skipTurn(state: SessionLoop, { mark, toolCalls }: SkippedTurn): Partial<SessionLoop> {
  const loop = { ...state.loop, toolCalls: state.loop.toolCalls + (toolCalls ?? 0) };
  return { loop, transcript: mark };
}

export function setAsideText(path: string): string {
  return `The state of this session's Ralph loop could not be read; it was set aside as ${path}. Start the loop again.`;
}

function answer(
  { control, promptId, readTurn }: ControlEvent,
  state: SessionLoop,
  context: SessionContext,
): Reply | null {
  switch (control) {
    case 'ralph-status':
      return { kind: 'answer', message: statusMessage(state, context.now()) };
    case 'cancel-ralph':
      return cancelLoop(state, context);
    case 'ralph-pause':
      if (state.status === 'paused')
        return { kind: 'answer', message: 'The Ralph loop is paused already. /ralph-resume goes on.' };
      return asAnswer(pauseLoop(state, turnOf(state, readTurn), 'you asked for it', context));
    case 'ralph-resume':
      return resume(state, turnOf(state, readTurn), promptId, context);
  }
}

/** Ends a loop as cancelled; null when it changed meanwhile. */
export function cancelLoop(
  state: SessionLoop,
  context: Pick<SessionContext, 'env' | 'now'>,
  text = 'you cancelled it',
): Reply | null {
  const because: Reason = { code: 'cancelled', text };
  const loop = { ...state.loop, outcome: 'CANCELLED' } as const;
  const at = context.now();
  const end = runEnded({ outcome: 'CANCELLED', because }, state.loop, at - state.startedAt);
  if (!endSessionLoop(context, state, { loop, updatedAt: at }, [end])) return null;
  return { kind: 'answer', message: endMessage(state, 'CANCELLED', because) };
}

/** Resumes the loop. The model gets the task again, so the work starts at once. */
function resume(
  state: SessionLoop,
  turn: SkippedTurn,
  promptId: string | null,
  context: SessionContext,
): Reply | null {
  const at = context.now();
  // The second event of the same prompt.
  if (promptId !== null && state.promptId === promptId) return silent;
  const change = {
    // What was called while the loop was paused was called for something else.
    ...(state.status === 'paused' ? { transcript: turn.mark } : skipTurn(state, turn)),
    status: 'active',
    driver: context.driver,
    promptId,
    turnStartedAt: at,
    updatedAt: at,
  } as const;
  return updateSessionLoop(context, state, change, [{ type: 'unpaused' }]) ? goesOn(state) : null;
}

function goesOn(state: SessionLoop): Reply {
  const notice = `Ralph loop ${state.run} goes on: ${iterationText(state.loop)}.`;
  return { kind: 'context', message: `The Ralph loop goes on.\n\n${startMessage(state)}`, notice };
}

function asAnswer(reply: Reply): Reply | null {
  return reply.kind === 'notice' ? { kind: 'answer', message: reply.notice } : null;
}

function turnOf({ transcript, minToolCalls, loop }: SessionLoop, readTurn?: ReadTurn): SkippedTurn {
  return readTurn?.(transcript, minToolCalls - loop.toolCalls) ?? { mark: transcript, toolCalls: null };
}

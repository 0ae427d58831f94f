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
  openSessionLoop,
  readSessionLoop,
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
    const reply =
      lookup.kind === 'none' ? withoutLoop(event, context) : withLoop(event, lookup.state, context);
    if (typeof reply === 'string') return { kind: 'answer', message: reply };
    if (reply !== null) return reply;
  }
}

/** Answers a session without a loop. One that ended for a human can be resumed. */
function withoutLoop(event: ControlEvent, context: SessionContext): Reply | string {
  const { control, sessionId, cwd } = event;
  const { env, now } = context;
  const last = lastEnded(env, sessionId);
  if (last && control === 'ralph-resume' && isResumable(last.loop.outcome)) {
    const loop = { ...last.loop, outcome: null, failures: 0, withoutTools: 0, withoutSign: 0, refusals: 0 };
    const { mark: transcript } = turnOf(last, event.readTurn);
    const revision = last.revision + 1;
    const state = { ...last, ...resumed(event, context), loop, transcript, revision };
    const resumption = { type: 'run.resumed', pid: process.pid, iteration: loop.iteration, cli: [] } as const;
    if (openSessionLoop(context, state, [resumption])) return goesOn(state);
  }
  const others = listSessionLoops(env).filter((state) => state.cwd === cwd && state.sessionId !== sessionId);
  return [
    `There is no Ralph loop in this session.${last ? ` The last one ended: ${last.loop.outcome} (ralph show ${last.run}).` : ''} Start one: /ralph-loop "task"`,
    ...others.map((state) => orphanText(state, now())),
  ].join('\n');
}

/** Answers a session with a loop; null if the loop changed meanwhile. */
function withLoop(event: ControlEvent, state: SessionLoop, context: SessionContext): Reply | string | null {
  switch (event.control) {
    case 'ralph-status':
      return statusMessage(state, context.now());
    case 'cancel-ralph':
      return cancelLoop(state, context);
    case 'ralph-pause':
      if (state.status === 'paused') return 'The Ralph loop is paused already. /ralph-resume goes on.';
      return pauseLoop(state, turnOf(state, event.readTurn), 'you asked for it', context);
    case 'ralph-resume':
      return resume(event, state, context);
  }
}

/** Pauses the loop and returns the message for the user; null if it changed meanwhile. */
export function pauseLoop(state: SessionLoop, turn: SkippedTurn, why: string, context: SessionContext) {
  const change = { ...skipTurn(state, turn), status: 'paused', updatedAt: context.now() } as const;
  return updateSessionLoop(context, state, change, [{ type: 'paused', because: `paused: ${why}` }])
    ? `Ralph loop paused: ${why}. /ralph-resume goes on, /cancel-ralph ends it.`
    : null;
}

/** Ends a loop as cancelled and returns the message for the user; null if it changed meanwhile. */
export function cancelLoop(
  state: SessionLoop,
  context: Pick<SessionContext, 'env' | 'now'>,
  text = 'you cancelled it',
): string | null {
  const because: Reason = { code: 'cancelled', text };
  const loop = { ...state.loop, outcome: 'CANCELLED' } as const;
  const at = context.now();
  const end = runEnded({ outcome: 'CANCELLED', because }, state.loop, at - state.startedAt);
  return endSessionLoop(context, state, { loop, updatedAt: at }, [end])
    ? endMessage(state, 'CANCELLED', because)
    : null;
}

/** Resumes the loop. The model gets the task again, so the work starts at once. */
function resume(event: ControlEvent, state: SessionLoop, context: SessionContext): Reply | null {
  // The second event of the same prompt.
  if (event.promptId !== null && state.promptId === event.promptId) return silent;
  const turn = turnOf(state, event.readTurn);
  const change = {
    ...resumed(event, context),
    // What was called while the loop was paused was called for something else.
    ...(state.status === 'paused' ? { transcript: turn.mark } : skipTurn(state, turn)),
  };
  return updateSessionLoop(context, state, change, [{ type: 'unpaused' }]) ? goesOn(state) : null;
}

/** Returns what changes in the state of a loop that goes on. */
function resumed({ promptId }: ControlEvent, { driver, now }: SessionContext) {
  const at = now();
  return { status: 'active', driver, promptId, turnStartedAt: at, updatedAt: at } as const;
}

function goesOn(state: SessionLoop): Reply {
  const notice = `Ralph loop ${state.run} goes on: ${iterationText(state.loop)}.`;
  return { kind: 'context', message: `The Ralph loop goes on.\n\n${startMessage(state)}`, notice };
}

type SkippedTurn = Pick<TurnRead, 'mark' | 'toolCalls'>;

/** Moves past a turn that nobody judges: its tool calls count, its words do not. */
export function skipTurn(state: SessionLoop, { mark, toolCalls }: SkippedTurn): Partial<SessionLoop> {
  const loop = { ...state.loop, toolCalls: state.loop.toolCalls + (toolCalls ?? 0) };
  return { loop, transcript: mark };
}

function turnOf({ transcript }: SessionLoop, readTurn?: ReadTurn): SkippedTurn {
  return readTurn?.(transcript) ?? { mark: transcript, toolCalls: null };
}

export function setAsideText(path: string): string {
  return `The state of this session's Ralph loop could not be read; it was set aside as ${path}. Start the loop again.`;
}

import type { Reason } from '../../core/loop.ts';
import { runEnded } from '../../journal/turn-events.ts';
import { fileSize } from '../../os/files/scan-lines.ts';
import type { ControlName } from './commands.ts';
import { type Reply, type SessionContext, silent } from './hook-reply.ts';
import { endMessage, iterationText, startMessage, statusMessage } from './loop-messages.ts';
import { endSessionLoop, readSessionLoop, type SessionLoop, updateSessionLoop } from './session-loops.ts';

const noLoop: Reply = {
  kind: 'answer',
  message: 'There is no Ralph loop in this session. Start one: /ralph-loop "task"',
};

type ControlEvent = {
  readonly control: ControlName;
  readonly sessionId: string;
  readonly promptId: string | null;
};

/** Answers a command about the loop of this session; only a resume reaches the model. */
export function controlLoop(event: ControlEvent, context: SessionContext): Reply {
  // Reads the loop again if a hook changed it between our read and our write.
  for (;;) {
    const lookup = readSessionLoop(context.env, event.sessionId);
    if (lookup.kind === 'set-aside') return { kind: 'answer', message: setAsideText(lookup.path) };
    if (lookup.kind === 'none') return noLoop;
    const reply = answer(event, lookup.state, context);
    if (reply) return reply;
  }
}

/** Pauses the loop; silent if another hook changed it meanwhile. */
export function pauseLoop(state: SessionLoop, why: string, context: SessionContext): Reply {
  const at = context.now();
  const change = { status: 'paused', transcript: fromHere(state), updatedAt: at } as const;
  if (!updateSessionLoop(context, state, change, [{ type: 'paused', because: `paused: ${why}` }]))
    return silent;
  return {
    kind: 'notice',
    notice: `Ralph loop paused: ${why}. /ralph-resume goes on, /cancel-ralph ends it.`,
  };
}

export function setAsideText(path: string): string {
  return `The state of this session's Ralph loop could not be read; it was set aside as ${path}. Start the loop again.`;
}

function answer(
  { control, promptId }: ControlEvent,
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
      return asAnswer(pauseLoop(state, 'you asked for it', context));
    case 'ralph-resume':
      return resume(state, promptId, context);
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
function resume(state: SessionLoop, promptId: string | null, context: SessionContext): Reply | null {
  const at = context.now();
  // The second event of the same prompt.
  if (promptId !== null && state.promptId === promptId) return silent;
  const change = {
    status: 'active',
    transcript: fromHere(state),
    driver: context.driver,
    promptId,
    turnStartedAt: at,
    updatedAt: at,
  } as const;
  if (!updateSessionLoop(context, state, change, [{ type: 'unpaused' }])) return null;
  const notice = `Ralph loop ${state.run} goes on: ${iterationText(state.loop)}.`;
  return { kind: 'context', message: `The Ralph loop goes on.\n\n${startMessage(state)}`, notice };
}

function asAnswer(reply: Reply): Reply | null {
  return reply.kind === 'notice' ? { kind: 'answer', message: reply.notice } : null;
}

/** Returns a mark at the end of the transcript. The next turn leaves out what was said while the loop was paused. */
function fromHere({ transcript }: SessionLoop): SessionLoop['transcript'] {
  const size = transcript.path === null ? null : fileSize(transcript.path);
  return { ...transcript, offset: size ?? transcript.offset, unseen: null };
}

import { type Claim, readClaim } from '../core/completion.ts';
import { decide } from '../core/decide.ts';
import { messageOf } from '../core/error.ts';
import type { Check } from '../core/evidence.ts';
import type { Turn } from '../core/turn.ts';
import type { VerifyResult } from '../safety/verify.ts';
import {
  endSessionLoop,
  isDrivenElsewhere,
  readSessionLoop,
  type SessionLoop,
  type TranscriptMark,
  updateSessionLoop,
} from '../store/session-loops.ts';
import { agentEnded, decisionEvents, iterationStarted } from '../store/turn-events.ts';
import { changedSince } from '../system/changed-since.ts';
import type { SessionContext } from './context.ts';
import { pauseLoop, setAsideText } from './control.ts';
import { continuationMessage, endMessage } from './messages.ts';
import type { notifySessionEnd } from './notify-end.ts';
import { endEvent, recorder } from './record.ts';
import { type Reply, silent } from './reply.ts';
import type { TurnRead } from './turn.ts';
import type { verifySession } from './verify.ts';

/** An agent that is about to stop, as its host tells it. */
export type StopEvent = {
  readonly sessionId: string;
  readonly subagent: boolean;
  readonly planMode: boolean;
  /** The ids of tasks that still run in the background; the host starts a new turn when one ends. */
  readonly backgroundTasks: readonly string[];
  /** Reads the turn; more than the wanted number of tool calls need not be counted. */
  readonly readTurn: (from: TranscriptMark, wantedCalls: number) => TurnRead;
  /** What the agent is told when it is sent back; the common words unless the host has its own. */
  readonly continuation?: (state: SessionLoop) => string;
};

/** The stop hook of every host: may the agent stop? */
export async function atStop(event: StopEvent, context: SessionContext): Promise<Reply> {
  if (event.subagent) return silent;
  const stored = readSessionLoop(context.env, event.sessionId);
  if (stored.kind === 'set-aside') return { kind: 'notice', notice: setAsideText(stored.path) };
  if (stored.kind === 'none' || stored.state.status === 'paused' || event.planMode) return silent;
  const { state } = stored;
  if (isDrivenElsewhere(state, context.driver)) return silent;

  const latest = await readSettledTurn(event, state);
  if (latest.interrupted && latest.askedSince) return pauseLoop(state, 'you interrupted it', context);
  return (
    waitForTasks(state, latest, event.backgroundTasks, context) ??
    judgeTurn(state, latest, context, event.continuation)
  );
}

/** A task that runs for longer than this is taken for one that never ends, such as a server. */
const longestWait = 30 * 60_000;

/**
 * The agent may stop while tasks run that it has to wait for; null where there are none. What it did counts, but not what
 * it said: a claim that was made before the tasks were over does not know how they ended.
 */
function waitForTasks(
  state: SessionLoop,
  { mark, toolCalls }: TurnRead,
  ids: readonly string[],
  { env, now }: SessionContext,
): Reply | null {
  const at = now();
  const known = new Map(Object.entries(state.waitsFor ?? {}));
  // A clock that was set back must not make the wait longer: then it starts anew.
  const isNew = (id: string) => (known.get(id) ?? Number.POSITIVE_INFINITY) > at;
  const waitsFor = Object.fromEntries(ids.map((id) => [id, isNew(id) ? at : (known.get(id) ?? at)]));
  const count = Object.values(waitsFor).filter((since) => at - since < longestWait).length;
  if (count === 0) return null;
  const loop = { ...state.loop, toolCalls: state.loop.toolCalls + (toolCalls ?? 0) };
  keep(() => updateSessionLoop(env, state, { waitsFor, loop, transcript: mark, updatedAt: at }));
  return {
    kind: 'notice',
    notice: `Ralph loop waits for ${count} background task${count === 1 ? '' : 's'}.`,
  };
}

/** The turn that ends now, and what it claims. */
type ClaimedTurn = TurnRead & { readonly claim: Claim };

/** Reads the turn. The transcript may lag behind the host's event: a claim without work gets a second for it to catch up. */
async function readSettledTurn(
  event: StopEvent,
  { transcript, minToolCalls, loop }: SessionLoop,
): Promise<ClaimedTurn> {
  const wanted = Math.max(1, minToolCalls - loop.toolCalls);
  for (let tries = 0; ; tries++) {
    const latest = event.readTurn(transcript, wanted);
    const claim = readClaim(latest.text, loop.plan.completion);
    const lags =
      latest.mark.path !== null &&
      latest.mark.unseen !== null &&
      loop.toolCalls + (latest.toolCalls ?? 0) < minToolCalls;
    if (tries === 20 || !lags || claim.kind !== 'done') return { ...latest, claim };
    await pause(50);
  }
}

// The one of `node:timers/promises` costs a hook half a millisecond that it has to load first.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function judgeTurn(
  state: SessionLoop,
  latest: ClaimedTurn,
  context: SessionContext,
  continuation = continuationMessage,
): Promise<Reply> {
  const { env, now } = context;
  const claimed = latest.claim.kind === 'done';
  const turn = turnOf(state, latest, claimed, now());
  const warning = claimed ? noWorkWarning(state, turn) : null;
  const verified = claimed && state.verify.length > 0 ? await verify(state, context) : [];
  const checks: Check[] = [...(warning === null ? [] : [warning]), ...verified.map(({ check }) => check)];
  const decided = decide(state.loop, turn, checks, latest.claim);
  const { decision } = decided;
  const at = now();
  const change = { loop: decided.loop, transcript: latest.mark, turnStartedAt: at, updatedAt: at };
  const next: SessionLoop = { ...state, ...change };
  const { iteration } = state.loop;
  const events = [
    ...verified.map(({ event }) => event),
    agentEnded(iteration, turn, { cause: 'exited', ms: turn.durationMs, session: state.sessionId }),
    ...decisionEvents(iteration, decided),
  ];

  if (decision.kind === 'stop') {
    events.push(endEvent(next, decision.outcome, decision.because, at));
    const message = endMessage(next, decision.outcome, decision.because);
    const kept = keep(() => endSessionLoop(env, state, change, recorder(events, now)));
    if (kept === 'too-late') return silent;
    await notify(next, decision.outcome, decision.because, context);
    const warned = warning === null ? '' : ` Warning: ${warning.detail}.`;
    return { kind: 'notice', notice: `${message}${warned}${kept === 'kept' ? '' : ` ${kept}`}` };
  }
  const message = continuation(next);
  events.push(iterationStarted(next.loop, message));
  const kept = keep(() => updateSessionLoop(env, state, change, recorder(events, now)));
  if (kept === 'too-late') return silent;
  return { kind: 'continue', message, ...(kept === 'kept' ? {} : { notice: kept }) };
}

/** Loops end seldom, so that all this is loaded only then; the end holds whatever becomes of it. */
async function notify(...end: Parameters<typeof notifySessionEnd>): Promise<void> {
  try {
    const { notifySessionEnd } = await import('./notify-end.ts');
    await notifySessionEnd(...end);
  } catch {
    return;
  }
}

function turnOf(
  state: SessionLoop,
  { text, toolCalls, error }: TurnRead,
  claimed: boolean,
  now: number,
): Turn {
  const enough = claimed && state.loop.toolCalls >= state.minToolCalls;
  const unknownWork = toolCalls === null && !enough;
  const since = claimed ? state.startedAt : state.turnStartedAt;
  return {
    text,
    toolCalls,
    end: error === undefined ? 'finished' : 'failed',
    ...(error === undefined ? {} : { error }),
    exitCode: null,
    progress: {
      commits: 0,
      filesChanged: unknownWork && changedSince(state.cwd, since) ? 1 : 0,
    },
    endedAt: now,
    durationMs: Math.max(0, now - state.turnStartedAt),
  };
}

/** With the policy `warn`, a promise without work is accepted, and the record says so. */
function noWorkWarning(state: SessionLoop, turn: Turn): Check | null {
  const calls = state.loop.toolCalls + (turn.toolCalls ?? 0);
  if (state.onPromiseNoWork !== 'warn' || calls >= state.minToolCalls) return null;
  const detail = `accepted with ${calls} tool calls, at least ${state.minToolCalls} wanted`;
  return { check: 'tool-calls', ok: true, detail };
}

/** Loaded only where a claim has commands to verify it. */
async function verify(...turn: Parameters<typeof verifySession>): Promise<VerifyResult[]> {
  const { verifySession } = await import('./verify.ts');
  return verifySession(...turn);
}

/** A decision holds even where it cannot be written down (a full disk); then the user is told. */
function keep(write: () => boolean): string {
  try {
    return write() ? 'kept' : 'too-late';
  } catch (error) {
    return `The record could not be written: ${messageOf(error)}.`;
  }
}

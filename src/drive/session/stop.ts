import { type Claim, readClaim } from '../../core/completion.ts';
import { decide } from '../../core/decide.ts';
import { messageOf } from '../../core/error.ts';
import type { Check } from '../../core/evidence.ts';
import type { Turn } from '../../core/turn.ts';
import { agentEnded, decisionEvents, iterationStarted, runEnded } from '../../journal/turn-events.ts';
import { changedSince } from '../../os/git/changed-since.ts';
import type { VerifyResult } from '../run-verify.ts';
import { pauseLoop, setAsideText } from './control.ts';
import { type Reply, type SessionContext, silent } from './hook-reply.ts';
import { continuationMessage, endMessage } from './loop-messages.ts';
import type { notifySessionEnd } from './notify-end.ts';
import {
  endSessionLoop,
  isDrivenElsewhere,
  readSessionLoop,
  type SessionLoop,
  type TranscriptMark,
  updateSessionLoop,
} from './session-loops.ts';
import type { TurnRead } from './transcript.ts';
import type { verifySession } from './verify.ts';

/** Event of a host whose agent is about to stop. */
export type StopEvent = {
  readonly sessionId: string;
  readonly subagent: boolean;
  readonly planMode: boolean;
  /** The ids of tasks that still run in the background; the host starts a new turn when one ends. */
  readonly backgroundTasks: readonly string[];
  /** Reads the turn; more than the wanted number of tool calls need not be counted. */
  readonly readTurn: (from: TranscriptMark, wantedCalls: number) => TurnRead;
  /** Builds the message that sends the agent back; `continuationMessage` if left out. */
  readonly continuation?: (state: SessionLoop) => string;
};

/** Reply of a stop hook, with the claim of the turn if it was read. */
export type StopReply = Reply & { readonly claim?: Claim };

/** Decides for every host whether the agent may stop. */
export async function atStop(event: StopEvent, context: SessionContext): Promise<StopReply> {
  if (event.subagent) return silent;
  const lookup = readSessionLoop(context.env, event.sessionId);
  if (lookup.kind === 'set-aside') return { kind: 'notice', notice: setAsideText(lookup.path) };
  if (lookup.kind === 'none' || lookup.state.status === 'paused' || event.planMode) return silent;
  const { state } = lookup;
  if (isDrivenElsewhere(state, context.driver)) return silent;

  const latest = await readSettledTurn(event, state);
  const { claim } = latest;
  if (latest.interrupted && latest.askedSince)
    return { ...pauseLoop(state, 'you interrupted it', context), claim };
  const reply =
    waitForTasks(state, latest, event.backgroundTasks, context) ??
    (await judgeTurn(state, latest, context, event.continuation));
  return { ...reply, claim };
}

/** A task that runs for longer than this is taken for one that never ends, such as a server. */
const longestWait = 30 * 60_000;

/**
 * Lets the agent stop while background tasks run; null if there are none. Its tool calls count, its words do not: a claim
 * made before the tasks ended cannot know their results.
 */
function waitForTasks(
  state: SessionLoop,
  { mark, toolCalls }: TurnRead,
  ids: readonly string[],
  context: SessionContext,
): Reply | null {
  const at = context.now();
  const since = new Map(Object.entries(state.waitsFor ?? {}));
  // Starts the wait anew after the clock was set back, which would make it longer.
  const isNew = (id: string) => (since.get(id) ?? Number.POSITIVE_INFINITY) > at;
  const waitsFor = Object.fromEntries(ids.map((id) => [id, isNew(id) ? at : (since.get(id) ?? at)]));
  const count = Object.values(waitsFor).filter((start) => at - start < longestWait).length;
  if (count === 0) return null;
  const loop = { ...state.loop, toolCalls: state.loop.toolCalls + (toolCalls ?? 0) };
  write(() => updateSessionLoop(context, state, { waitsFor, loop, transcript: mark, updatedAt: at }));
  return {
    kind: 'notice',
    notice: `Ralph loop waits for ${count} background task${count === 1 ? '' : 's'}.`,
  };
}

/** The turn that ends now, with its claim. */
type ClaimedTurn = TurnRead & { readonly claim: Claim };

/** Reads the turn. The transcript may lag behind the host's event: a claim without work gets a second for it to catch up. */
async function readSettledTurn(
  event: StopEvent,
  { transcript, minToolCalls, loop }: SessionLoop,
): Promise<ClaimedTurn> {
  const wantedCalls = Math.max(1, minToolCalls - loop.toolCalls);
  const readTurn = () => event.readTurn(transcript, wantedCalls);
  const claimOf = ({ text }: TurnRead) => readClaim(text, loop.plan.completion);
  const lags = ({ mark, toolCalls }: TurnRead) =>
    mark.path !== null && mark.unseen !== null && loop.toolCalls + (toolCalls ?? 0) < minToolCalls;
  const first = readTurn();
  const claim = claimOf(first);
  if (claim.kind !== 'done' || !lags(first)) return { ...first, claim };
  let latest = first;
  for (let tries = 0; tries < 20 && lags(latest); tries++) {
    await pause(50);
    latest = readTurn();
  }
  return { ...latest, claim: claimOf(latest) };
}

// Loading `node:timers/promises` would cost the hook half a millisecond.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function judgeTurn(
  state: SessionLoop,
  latest: ClaimedTurn,
  context: SessionContext,
  continuation = continuationMessage,
): Promise<Reply> {
  const { now } = context;
  const hasClaim = latest.claim.kind === 'done';
  const turn = turnOf(state, latest, hasClaim, now());
  const warning = hasClaim ? noWorkWarning(state, turn) : null;
  const verifyResults = hasClaim && state.verify.length > 0 ? await verify(state, context) : [];
  const checks: Check[] = [
    ...(warning === null ? [] : [warning]),
    ...verifyResults.map(({ check }) => check),
  ];
  const judgement = decide(state.loop, turn, checks, latest.claim);
  const { decision } = judgement;
  const at = now();
  const change = { loop: judgement.loop, transcript: latest.mark, turnStartedAt: at, updatedAt: at };
  const next: SessionLoop = { ...state, ...change };
  const { iteration } = state.loop;
  const events = [
    ...verifyResults.map(({ event }) => event),
    agentEnded(iteration, turn, { cause: 'exited', ms: turn.durationMs, session: state.sessionId }),
    ...decisionEvents(iteration, judgement),
  ];

  if (decision.kind === 'stop') {
    events.push(runEnded(decision, next.loop, at - next.startedAt));
    const message = endMessage(next, decision.outcome, decision.because);
    const result = write(() => endSessionLoop(context, state, change, events));
    if (result === 'too-late') return silent;
    await notify(next, decision.outcome, decision.because, context);
    const warningText = warning === null ? '' : ` Warning: ${warning.detail}.`;
    return { kind: 'notice', notice: `${message}${warningText}${result === 'written' ? '' : ` ${result}`}` };
  }
  const message = continuation(next);
  events.push(iterationStarted(next.loop, message));
  const result = write(() => updateSessionLoop(context, state, change, events));
  if (result === 'too-late') return silent;
  return { kind: 'continue', message, ...(result === 'written' ? {} : { notice: result }) };
}

/** Notifies people of the end. Loaded on demand, since loops end seldom; a failure changes nothing. */
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
  hasClaim: boolean,
  now: number,
): Turn {
  const enough = hasClaim && state.loop.toolCalls >= state.minToolCalls;
  const unknownWork = toolCalls === null && !enough;
  const since = hasClaim ? state.startedAt : state.turnStartedAt;
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

/** Returns a warning for a claim without work that the policy `warn` accepts. */
function noWorkWarning(state: SessionLoop, turn: Turn): Check | null {
  const calls = state.loop.toolCalls + (turn.toolCalls ?? 0);
  if (state.onPromiseNoWork !== 'warn' || calls >= state.minToolCalls) return null;
  const detail = `accepted with ${calls} tool calls, at least ${state.minToolCalls} wanted`;
  return { check: 'tool-calls', ok: true, detail };
}

/** Runs the verify commands. Loaded on demand, since few turns claim anything. */
async function verify(...turn: Parameters<typeof verifySession>): Promise<VerifyResult[]> {
  const { verifySession } = await import('./verify.ts');
  return verifySession(...turn);
}

/** Writes a change. A decision holds even if that fails (a full disk): the result is then a message for the user. */
function write(change: () => boolean): string {
  try {
    return change() ? 'written' : 'too-late';
  } catch (error) {
    return `The record could not be written: ${messageOf(error)}.`;
  }
}

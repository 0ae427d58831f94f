import { type Claim, readClaim } from '../../core/completion.ts';
import { decide } from '../../core/decide.ts';
import { messageOf } from '../../core/error.ts';
import type { Check } from '../../core/evidence.ts';
import type { Turn } from '../../core/turn.ts';
import { agentEnded, decisionEvents, iterationStarted, runEnded } from '../../journal/turn-events.ts';
import { changedSince } from '../../os/git/changed-since.ts';
import type { VerifyResult } from '../run-verify.ts';
import { commandIn, isPlainStop } from './commands.ts';
import { cancelLoop, pauseLoop, setAsideText, skipTurn } from './control.ts';
import { type Reply, type SessionContext, silent } from './hook-reply.ts';
import { continuationMessage, endMessage, statusMessage } from './loop-messages.ts';
import type { notifySessionEnd } from './notify-end.ts';
import {
  endSessionLoop,
  isDrivenElsewhere,
  readSessionLoop,
  type SessionLoop,
  updateSessionLoop,
} from './session-loops.ts';
import type { ReadTurn, TurnRead, UserWord } from './transcript.ts';
import type { verifySession } from './verify.ts';

/** Event of a host whose agent is about to stop. */
export type StopEvent = {
  readonly sessionId: string;
  readonly subagent: boolean;
  readonly planMode: boolean;
  /** The ids of tasks that still run in the background; the host starts a new turn when one ends. */
  readonly backgroundTasks: readonly string[];
  readonly readTurn: ReadTurn;
  /** Builds the message that sends the agent back; `continuationMessage` if left out. */
  readonly continuation?: (state: SessionLoop) => string;
};

/** Reply of a stop hook, with the claim of the turn if it was read. */
export type StopReply = Reply & {
  readonly claim?: Claim;
  /** True if the agent stops for something that the user typed: nobody may send it back. */
  readonly servesUser?: true;
};

/** Decides for every host whether the agent may stop. */
export async function atStop(event: StopEvent, context: SessionContext): Promise<StopReply> {
  if (event.subagent) return silent;
  const lookup = readSessionLoop(context.env, event.sessionId);
  if (lookup.kind === 'set-aside') return { kind: 'notice', notice: setAsideText(lookup.path) };
  if (lookup.kind === 'none' || lookup.state.status === 'paused' || event.planMode) return silent;
  const { state } = lookup;
  if (isDrivenElsewhere(state, context.driver)) return silent;

  let latest = await readSettledTurn(event, state);
  if (isRepeat(state, latest)) {
    // Or the transcript lags.
    await pause(500);
    latest = await readSettledTurn(event, state);
  }
  const { claim } = latest;
  const served = serveUser(state, latest, context);
  if (served !== null) return { ...served, claim, servesUser: true };
  const continuation = event.continuation ?? continuationMessage;
  const reply =
    waitForTasks(state, latest, event.backgroundTasks, context) ??
    repeatAnswer(state, latest, continuation, context) ??
    (await judgeTurn(state, latest, continuation, context));
  if (reply.kind !== 'continue' || !latest.words?.some(asksForStatus)) return { ...reply, claim };
  return { ...reply, notice: statusMessage(state, context.now()), claim };
}

/**
 * Serves the user before the loop; null if there is nothing to serve. A host that is sent back at every stop never serves
 * what was typed meanwhile: a command of ours is carried out here, and for any other prompt the agent may stop.
 */
function serveUser(state: SessionLoop, turn: TurnRead, context: SessionContext): Reply | null {
  if (turn.interrupted && turn.askedSince) return pauseLoop(state, turn, 'you interrupted it', context);
  for (const { text, waits } of turn.words ?? []) {
    if (isPlainStop(text)) return pauseLoop(state, turn, 'you said stop', context);
    if (!waits) continue;
    const command = commandIn(text)?.name;
    if (command === undefined) return letStop(state, turn, context);
    if (command === 'ralph-pause') return pauseLoop(state, turn, 'you asked for it', context);
    if (command === 'cancel-ralph') return asNotice(cancelLoop(state, context));
  }
  return null;
}

function asNotice(reply: Reply | null): Reply {
  return reply?.kind === 'answer' ? { kind: 'notice', notice: reply.message } : silent;
}

function asksForStatus({ text, waits }: UserWord): boolean {
  return waits && commandIn(text)?.name === 'ralph-status';
}

/** Lets the agent stop, without a word and without counting an iteration. */
function letStop(
  state: SessionLoop,
  turn: TurnRead,
  context: SessionContext,
  waitsFor: SessionLoop['waitsFor'] = {},
): Reply {
  const change = { ...skipTurn(state, turn), waitsFor, updatedAt: context.now() };
  write(() => updateSessionLoop(context, state, change));
  return silent;
}

/** A task that runs for longer than this is taken for one that never ends, such as a server. */
const longestWait = 30 * 60_000;

/** Lets the agent stop while background tasks run; null if there are none. A claim made before cannot know their results. */
function waitForTasks(
  state: SessionLoop,
  turn: TurnRead,
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
  letStop(state, turn, context, waitsFor);
  return {
    kind: 'notice',
    notice: `Ralph loop waits for ${count} background task${count === 1 ? '' : 's'}.`,
  };
}

type Continuation = NonNullable<StopEvent['continuation']>;

/** Answers a stop that is delivered twice as before, once; null for any other stop. */
function repeatAnswer(
  state: SessionLoop,
  turn: TurnRead,
  continuation: Continuation,
  context: SessionContext,
): Reply | null {
  if (!isRepeat(state, turn)) return null;
  const result = write(() => updateSessionLoop(context, state, { repeated: true }));
  return result === 'written' ? { kind: 'continue', message: continuation(state) } : notKept(result);
}

function isRepeat({ transcript, repeated }: SessionLoop, { mark, text, toolCalls }: TurnRead): boolean {
  const { path, offset, judged } = transcript;
  const hasNews = path === null || mark.path !== path || mark.offset !== offset || toolCalls === null;
  if (hasNews || judged === undefined || repeated) return false;
  return text.length === 0 || endOf(text) === judged;
}

function endOf(text: readonly string[]): string {
  return text.at(-1)?.trim().slice(-500) ?? '';
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
  continuation: Continuation,
  context: SessionContext,
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
  const transcript = { ...latest.mark, judged: endOf(latest.text) };
  const change = { loop: judgement.loop, transcript, repeated: false, turnStartedAt: at, updatedAt: at };
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
    const lost = result === 'written' ? '' : ` The record is not complete: ${result}`;
    return { kind: 'notice', notice: `${message}${warningText}${lost}` };
  }
  const message = continuation(next);
  events.push(iterationStarted(next.loop, message));
  const result = write(() => updateSessionLoop(context, state, change, events));
  return result === 'written' ? { kind: 'continue', message } : notKept(result);
}

/** A loop whose count cannot be kept would send the agent back for ever: lets it stop. */
function notKept(result: string): Reply {
  if (result === 'too-late') return silent;
  return { kind: 'notice', notice: `Ralph loop rests: ${result} Mend that, then /ralph-resume goes on.` };
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
  { text, toolCalls, allRefused = false, error }: TurnRead,
  hasClaim: boolean,
  now: number,
): Turn {
  const enough = hasClaim && state.loop.toolCalls >= state.minToolCalls;
  const unknownWork = toolCalls === null && !enough;
  const since = hasClaim ? state.startedAt : state.turnStartedAt;
  return {
    text,
    toolCalls,
    allRefused,
    end: error === undefined ? 'finished' : 'empty',
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

/** Writes a change. If that fails (a full disk), the result is a message for the user. */
function write(change: () => boolean): string {
  try {
    return change() ? 'written' : 'too-late';
  } catch (error) {
    return `its state could not be written (${messageOf(error).replace(/\.$/, '')}).`;
  }
}

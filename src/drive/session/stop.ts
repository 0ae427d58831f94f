import { type Claim, readClaim } from '../../core/completion.ts';
import { decide } from '../../core/decide.ts';
import { messageOf } from '../../core/error.ts';
import type { Check } from '../../core/evidence.ts';
import type { Turn } from '../../core/turn.ts';
import { agentEnded, decisionEvents, iterationStarted, runEnded } from '../../journal/turn-events.ts';
import { changedSince } from '../../os/git/changed-since.ts';
import { commandIn, isPlainStop } from './commands.ts';
import { cancelLoop, pauseLoop, setAsideText, skipTurn } from './control.ts';
import { noticeOf, type Reply, type SessionContext, silent } from './hook-reply.ts';
import { continuationMessage, endMessage, statusMessage } from './loop-messages.ts';
import {
  endSessionLoop,
  isDrivenElsewhere,
  readSessionLoop,
  type SessionLoop,
  updateSessionLoop,
} from './session-loops.ts';
import type { ReadTurn, TurnRead, UserWord } from './transcript.ts';
import type { ClaimChecks } from './verify.ts';

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

/** The turn that ends now, with its claim. */
type ClaimedTurn = TurnRead & { readonly claim: Claim };

type Continuation = NonNullable<StopEvent['continuation']>;

/** Decides for every host whether the agent may stop. */
export async function atStop(event: StopEvent, context: SessionContext): Promise<StopReply> {
  if (event.subagent) return silent;
  const lookup = readSessionLoop(context.env, event.sessionId);
  if (lookup.kind === 'set-aside') return noticeOf(setAsideText(lookup.path));
  if (lookup.kind === 'none' || lookup.state.status === 'paused' || event.planMode) return silent;
  const { state } = lookup;
  if (isDrivenElsewhere(state, context.driver)) return silent;

  const turn = await readSettledTurn(event, state);
  const { claim } = turn;
  const served = serveUser(state, turn, context);
  if (served !== null) return { ...served, claim, servesUser: true };
  const continuation = event.continuation ?? continuationMessage;
  const reply =
    waitForTasks(state, turn, event.backgroundTasks, context) ??
    repeatAnswer(state, turn, continuation, context) ??
    (await judgeTurn(state, turn, continuation, context));
  if (reply.kind !== 'continue' || !turn.words?.some(asksForStatus)) return { ...reply, claim };
  return { ...reply, notice: statusMessage(state, context.now()), claim };
}

/**
 * Reads the turn. The transcript may lag behind the host's event: it gets a second to catch up where the loop would
 * otherwise reject a claim for want of work, count a call whose refusal is still to come, or take a new turn for a stop
 * that is delivered twice.
 */
async function readSettledTurn(event: StopEvent, state: SessionLoop): Promise<ClaimedTurn> {
  for (let tries = 20; ; tries--) {
    const turn = event.readTurn(state.transcript);
    const claim = readClaim(turn.text, state.loop.plan.completion);
    const lags = turn.mark.path !== null && turn.mark.unseen !== null;
    const isDoubtful = claim.kind === 'done' ? lacksWork(state, turn) : isRepeat(state, turn);
    const isSettled = !turn.awaitsResult && !(lags && isDoubtful);
    if (isSettled || tries === 0) return { ...turn, claim };
    // Loading `node:timers/promises` would cost the hook half a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function lacksWork({ loop, minToolCalls }: SessionLoop, { toolCalls }: TurnRead): boolean {
  return loop.toolCalls + (toolCalls ?? 0) < minToolCalls;
}

/**
 * Serves the user before the loop; null if there is nothing to serve. A host that is sent back at every stop never serves
 * what was typed meanwhile: a command of ours is carried out here, and for any other prompt the agent may stop.
 */
function serveUser(state: SessionLoop, turn: TurnRead, context: SessionContext): Reply | null {
  const pause = (why: string) => noticeOf(pauseLoop(state, turn, why, context));
  if (turn.interrupted && turn.askedSince) return pause('you interrupted it');
  for (const { text, waits } of turn.words ?? []) {
    if (isPlainStop(text)) return pause('you said stop');
    if (!waits) continue;
    const command = commandIn(text)?.name;
    if (command === undefined) return letStop(state, turn, context);
    if (command === 'ralph-pause') return pause('you asked for it');
    if (command === 'cancel-ralph') return noticeOf(cancelLoop(state, context));
  }
  return null;
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
  // The clock may have been set back since, which would make the wait longer.
  const waitsFor = Object.fromEntries(ids.map((id) => [id, Math.min(at, since.get(id) ?? at)]));
  const count = Object.values(waitsFor).filter((start) => at - start < longestWait).length;
  if (count === 0) return null;
  letStop(state, turn, context, waitsFor);
  return noticeOf(`Ralph loop waits for ${count} background task${count === 1 ? '' : 's'}.`);
}

/** Answers a stop that is delivered a second time as before; null for any other stop. */
function repeatAnswer(
  state: SessionLoop,
  turn: TurnRead,
  continuation: Continuation,
  context: SessionContext,
): Reply | null {
  if (!isRepeat(state, turn)) return null;
  // A third one counts: the transcript of this host may never grow.
  const { judged: _, ...transcript } = state.transcript;
  const result = write(() => updateSessionLoop(context, state, { transcript }));
  return result === 'written' ? { kind: 'continue', message: continuation(state) } : notKept(result);
}

/** True if nothing is new since the last stop. No id tells: Claude Code and Codex keep theirs for all stops of a prompt. */
function isRepeat({ transcript }: SessionLoop, { mark, text, toolCalls }: TurnRead): boolean {
  const { path, offset, judged } = transcript;
  const hasNews = path === null || mark.path !== path || mark.offset !== offset || toolCalls === null;
  if (hasNews || judged === undefined) return false;
  return text.length === 0 || endOf(text) === judged;
}

function endOf(text: readonly string[]): string {
  return text.at(-1)?.trim().slice(-500) ?? '';
}

async function judgeTurn(
  state: SessionLoop,
  latest: ClaimedTurn,
  continuation: Continuation,
  context: SessionContext,
): Promise<Reply> {
  const { now } = context;
  const { iteration } = state.loop;
  const hasClaim = latest.claim.kind === 'done';
  const turn = turnOf(state, latest, hasClaim, now());
  const claimChecks = hasClaim ? await checkClaim(state, latest, context) : { checks: [], events: [] };
  const judgement = decide(state.loop, turn, claimChecks.checks, latest.claim);
  const { decision } = judgement;
  const at = now();
  const transcript = { ...latest.mark, judged: endOf(latest.text) };
  const change = { loop: judgement.loop, transcript, turnStartedAt: at, updatedAt: at };
  const next: SessionLoop = { ...state, ...change };
  const events = [
    ...claimChecks.events,
    agentEnded(iteration, turn, { cause: 'exited', ms: turn.durationMs, session: state.sessionId }),
    ...decisionEvents(iteration, judgement),
  ];

  if (decision.kind === 'stop') {
    const { outcome, because } = decision;
    events.push(runEnded(decision, next.loop, at - next.startedAt));
    const result = write(() => endSessionLoop(context, state, change, events));
    if (result === 'too-late') return silent;
    // Loaded on demand, since loops end seldom; a failure changes nothing.
    await import('./notify-end.ts')
      .then(({ notifySessionEnd }) => notifySessionEnd(next, outcome, because, context))
      .catch(() => {});
    const lost = result === 'written' ? '' : ` The record is not complete: ${result}`;
    return noticeOf(`${endMessage(next, outcome, because)}${lost}`);
  }
  const message = continuation(next);
  events.push(iterationStarted(next.loop, message));
  const result = write(() => updateSessionLoop(context, state, change, events));
  return result === 'written' ? { kind: 'continue', message } : notKept(result);
}

/** A loop whose count cannot be kept would send the agent back for ever: lets it stop. */
function notKept(result: string): Reply {
  if (result === 'too-late') return silent;
  return noticeOf(`Ralph loop rests: ${result} Mend that, then /ralph-resume goes on.`);
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

/** Checks a claim by the verify commands, and warns of one without work that the policy `warn` accepts. */
async function checkClaim(state: SessionLoop, turn: TurnRead, context: SessionContext): Promise<ClaimChecks> {
  const { loop, minToolCalls, onPromiseNoWork, verify } = state;
  const warnings: Check[] = [];
  if (onPromiseNoWork === 'warn' && lacksWork(state, turn)) {
    const calls = loop.toolCalls + (turn.toolCalls ?? 0);
    const detail = `accepted with ${calls} tool calls, at least ${minToolCalls} wanted`;
    warnings.push({ check: 'tool-calls', ok: true, warning: true, detail });
  }
  if (verify.length === 0) return { checks: warnings, events: [] };
  // Loaded on demand, since few turns claim anything.
  const { verifyClaim } = await import('./verify.ts');
  const { checks, events } = await verifyClaim(state, context);
  return { checks: [...warnings, ...checks], events };
}

/** Writes a change. If that fails (a full disk), the result is a message for the user. */
function write(change: () => boolean): string {
  try {
    return change() ? 'written' : 'too-late';
  } catch (error) {
    return `its state could not be written (${messageOf(error).replace(/\.$/, '')}).`;
  }
}

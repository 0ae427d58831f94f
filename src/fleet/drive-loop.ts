import { messageOf } from '../core/error.ts';
import { sweepRun } from '../os/process/process.ts';
import { bookEnd } from './book-end.ts';
import { lostText } from './control.ts';
import { type DrivenLoop, forgetScreen } from './driven-loop.ts';
import { holdAccount } from './files/limits.ts';
import { logLine } from './files/log.ts';
import { type LoopRecord, type LoopStep, readLoop, type Why } from './files/loops.ts';
import { workerRunId } from './files/paths.ts';
import { lastExit, lastStart } from './files/signal-files.ts';
import { type EndCause, readEnd } from './iteration-output.ts';
import { accountOfLoop } from './limits.ts';
import { type Started, startIteration } from './start-iteration.ts';
import { endRunOf } from './supervised-run.ts';
import {
  drop,
  listIteration,
  notify,
  type Supervision,
  serverOf,
  setWhy,
  step,
  watchTime,
} from './supervision.ts';
import { whatNext } from './what-next.ts';

/** Iterations that may start at the same time. */
const starts = 8;
const startAgainMs = 20;
const keptBackMs = 5000;

/** Does what is due for a loop. A call while it is busy handles it once more afterwards. */
export async function handleLoop(all: Supervision, one: DrivenLoop): Promise<void> {
  if (all.leaving) return;
  if (one.busy) {
    one.again = true;
    return;
  }
  one.busy = true;
  try {
    do {
      one.again = false;
      await driveLoop(all, one);
    } while (one.again && all.loops.get(one.name) === one && !all.leaving);
  } catch (error) {
    all.say(`swarm: error: ${one.name}: ${messageOf(error)}`);
  } finally {
    one.busy = false;
  }
}

async function driveLoop(all: Supervision, one: DrivenLoop): Promise<void> {
  const { loop, pane } = one;
  const action = whatNext({
    loop,
    now: all.clock.now(),
    pane,
    started: lastStart(all.env, one.name),
    ended: lastExit(all.env, one.name),
    missedBefore: one.missedBefore,
    isWatched: one.isWatched,
  });
  switch (action.kind) {
    case 'leave':
      all.registry.change(one.name, { status: 'stopped' });
      return drop(all, one);
    case 'unclaim':
      step(all, one, (newest) => giveBack(newest, all.clock.now(), action.isLost));
      one.again = true;
      return;
    case 'wait':
      return handleIn(all, one, action.until - all.clock.now());
    case 'start':
      return startNext(all, one);
    case 'finish':
      return finishIteration(all, one, action);
    case 'look':
      one.missedBefore = pane === null;
      return;
    case 'watch':
      one.missedBefore = false;
      return;
  }
}

/** Returns the step that gives a claimed iteration back, so that it starts again. No failure is counted. */
function giveBack({ iteration, ended }: LoopRecord, at: number, isLost: boolean): LoopStep {
  const change = { iteration: ended };
  if (!isLost) return { change };
  const text = lostText(iteration);
  return { change, lines: [logLine(at, 'RESUME', text)], events: [{ at, type: 'notice', text, iteration }] };
}

function handleIn(all: Supervision, one: DrivenLoop, ms: number): void {
  one.cancelTimer();
  one.cancelTimer = all.clock.timer(Math.max(1, ms), () => void handleLoop(all, one));
}

async function startNext(all: Supervision, one: DrivenLoop): Promise<void> {
  if (all.starting >= starts) return handleIn(all, one, startAgainMs);
  all.starting++;
  one.keptBack = false;
  try {
    const result = await startIteration(all.env, one.worker, serverOf(all, one), () => all.clock.now());
    await settleStart(all, one, result);
  } finally {
    all.starting--;
  }
}

async function settleStart(all: Supervision, one: DrivenLoop, result: Started): Promise<void> {
  const { loop } = result;
  if (loop === null) return drop(all, one);
  one.loop = loop;
  switch (result.kind) {
    case 'started': {
      forgetScreen(one, watchTime(all));
      one.isWatched = true;
      const { iteration, settings } = loop;
      all.say(`[ralph] ${one.name}: starting iteration ${iteration}/${settings.max_iterations}`);
      listIteration(all, one);
      return;
    }
    case 'ended':
      all.say(`${loop.status === 'failed' ? 'swarm: error:' : `[ralph] ${one.name}:`} ${result.why}`);
      notify(all, one.worker, loop);
      one.again = true;
      return;
    case 'not-opened':
      all.say(`swarm: error: failed to create tmux window: ${messageOf(result.error)}`);
      return finishIteration(all, one, { how: 'lost', exitCode: null });
    case 'kept-back':
      return keepBack(all, one, result.why, result.until);
    case 'not-due':
      forgetScreen(one, one.startedAt);
      one.again = loop.iteration === loop.ended;
  }
}

/** Retries when another iteration ends, and every few seconds, because commands end iterations, too. */
function keepBack(all: Supervision, one: DrivenLoop, why: Why, until: number | null): void {
  one.keptBack = true;
  setWhy(all, one, why);
  handleIn(
    all,
    one,
    Math.min(until === null ? Number.POSITIVE_INFINITY : until - all.clock.now(), keptBackMs),
  );
}

/** Books the end of the running iteration, and ends its remaining processes. */
export async function finishIteration(all: Supervision, one: DrivenLoop, cause: EndCause): Promise<void> {
  const { env, clock } = all;
  const { launch } = one.loop;
  // An agent that exited has no children left to find.
  const children = cause.how !== 'exited' && cause.how !== 'lost';
  await sweepRun(workerRunId(env, one.name), { children });
  // A person may have edited the settings.
  one.loop = readLoop(env, one.name) ?? one.loop;
  const { end, run, isTold } = await readEnd({ env, clock, tmux: serverOf(all, one) }, one, cause);
  const { decision } = end;
  // Held first, so that readers of the limit find the account held.
  if (decision.kind === 'wait' && decision.because.code === 'usage-limit')
    holdAccountOf(all, one, end.at + decision.ms);
  const after = step(all, one, (newest) => {
    if (newest.launch !== launch || newest.ended >= newest.iteration) return null;
    const booked = bookEnd(newest, end);
    return run === undefined ? booked : { ...booked, change: { ...booked.change, runSeq: run.view.seq } };
  });
  if (after === null) return;
  one.again = true;
  endRunOf(one.worker, after);
  if (!isTold) notify(all, one.worker, after);
  for (const other of all.loops.values()) if (other.keptBack && other !== one) void handleLoop(all, other);
}

/** Holds all loops of the account until the usage limit of this one ends. */
function holdAccountOf({ env, clock }: Supervision, one: DrivenLoop, until: number): void {
  const account = accountOfLoop(one.worker, one.loop);
  if (account !== null) holdAccount(env, account, until, clock.now());
}

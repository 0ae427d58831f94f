import { messageOf } from '../core/error.ts';
import { sweepRun } from '../os/process/process.ts';
import { bookEnd } from './book-end.ts';
import { lostText } from './control.ts';
import { decisionOn } from './decide-turn.ts';
import { type DrivenLoop, forgetScreen, turnOf } from './driven-loop.ts';
import { holdAccount } from './files/limits.ts';
import { logLine } from './files/log.ts';
import { type LoopRecord, type LoopStep, readLoop } from './files/loops.ts';
import { workerRunId } from './files/paths.ts';
import { lastExit, lastStart } from './files/signal-files.ts';
import type { DecidedEnd, IterationEnd } from './iteration-end.ts';
import { type RunIteration, readIteration } from './run-iteration.ts';
import { limitAtExit } from './screen/classify.ts';
import { type Started, startedText, startIteration } from './start-iteration.ts';
import { endRunOf, runOf } from './supervised-run.ts';
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
import { readOwner } from './worker-window.ts';

/** Iterations that may start at the same time. */
const starts = 8;
const startAgainMs = 20;
const keptBackMs = 5000;
/** Lines of an ended iteration that are read, and how long tmux may take to read them itself. */
const historyLines = 2000;
const outputLooks = 40;
const outputLookMs = 25;

type EndCause = Pick<IterationEnd, 'how' | 'exitCode' | 'limitUntil'>;
type EndedIteration = Partial<RunIteration> & { readonly end: DecidedEnd };

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
    case 'started':
      forgetScreen(one, watchTime(all));
      one.isWatched = true;
      all.say(startedText(loop));
      listIteration(all, one);
      return;
    case 'ended':
      all.say(`${loop.status === 'failed' ? 'swarm: error:' : `[ralph] ${one.name}:`} ${loop.why.detail}`);
      notify(all, one.worker, loop);
      one.again = true;
      return;
    case 'not-opened':
      all.say(`swarm: error: failed to create tmux window: ${messageOf(result.error)}`);
      return finishIteration(all, one, { how: 'lost', exitCode: null });
    case 'kept-back':
      one.keptBack = true;
      setWhy(all, one, result.why);
      // Retries when another iteration ends, and every few seconds, because commands end iterations, too.
      return handleIn(all, one, Math.min((result.until ?? Infinity) - all.clock.now(), keptBackMs));
    case 'not-due':
      forgetScreen(one, one.startedAt);
      one.again = loop.iteration === loop.ended;
  }
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
  const { end, run, isTold } = await readEnd(all, one, cause);
  const { decision } = end;
  // Held first, so that readers of the limit find the account held.
  const { account } = one.loop.options;
  if (account !== undefined && decision.kind === 'wait' && decision.because.code === 'usage-limit')
    holdAccount(env, account, end.at + decision.ms, clock.now());
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

/** Reads how an iteration ended: from the journal of its run, or from what a plain worker printed. */
async function readEnd(all: Supervision, one: DrivenLoop, cause: EndCause): Promise<EndedIteration> {
  const { loop } = one;
  const at = all.clock.now();
  const run = runOf(one.worker, loop);
  const iteration =
    run === null
      ? { end: { ...cause, ...(await readOutput(all, one, cause)), at } }
      : readIteration(run, {
          env: all.env,
          iteration: loop.iteration,
          startedAt: loop.iterationStartedAt ?? at,
          since: loop.runSeq ?? 0,
          at,
          how: cause.how === 'lost' ? 'lost' : 'exited',
          exitCode: cause.exitCode,
        });
  return { ...iteration, end: { ...iteration.end, decision: decisionOn(loop, iteration.end) } };
}

/** Reads from the output of an agent whether it is done, or at a usage limit. */
async function readOutput(
  all: Supervision,
  one: DrivenLoop,
  { how, exitCode }: EndCause,
): Promise<Partial<IterationEnd> & { readonly doneMatched: boolean }> {
  const { lookIfDone } = turnOf(all.env, one);
  const mayBeLimited = how === 'exited' && exitCode !== 0 && one.agent !== 'custom';
  // An agent with a full screen clears it at its end: what it showed before counts.
  if (one.showsPattern && how !== 'exited' && how !== 'lost') return { doneMatched: true };
  if (lookIfDone === null && !mayBeLimited) return { doneMatched: false };
  const lines = await printedLines(all, one);
  if (lookIfDone?.(lines, one.echoed).done) return { doneMatched: true };
  const limit = mayBeLimited ? limitAtExit(one.agent, lines, all.clock.now()) : null;
  if (limit === null) return { doneMatched: false };
  return { doneMatched: false, how: 'limited', ...(limit.until ? { limitUntil: limit.until } : {}) };
}

/** Returns what a process printed: its screen and the lines just above it. */
async function printedLines(all: Supervision, one: DrivenLoop): Promise<string[]> {
  const tmux = serverOf(all, one);
  for (let attempt = 1; ; attempt++) {
    const panes = await tmux.panes();
    const pane = panes.find(({ label }) => {
      const owner = readOwner(all.env, label);
      return owner?.name === one.name && owner.launch === one.loop.launch;
    });
    if (pane === undefined) return [];
    // Of a dead pane, tmux has read all output.
    if (pane.dead || attempt === outputLooks) return tmux.capture(pane.id, historyLines);
    await all.clock.sleep(outputLookMs);
  }
}

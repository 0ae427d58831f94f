import type { Clock } from '../system/clock.ts';
import type { Environment } from '../system/program.ts';
import type { Tmux } from '../system/tmux.ts';
import { decisionOn } from './decide-turn.ts';
import { type Driven, turnOf } from './driven.ts';
import type { IterationEnd, LoopDecision } from './iteration-end.ts';
import { type RunIteration, readIteration } from './run-iteration.ts';
import { readMark } from './runner.ts';
import { limitAtExit } from './screen/classify.ts';
import { runOf } from './supervised-run.ts';

const historyLines = 2000;
const attempts = 40;
const pauseMs = 25;

/** How the supervisor saw an iteration end. */
export type SeenEnd = Pick<IterationEnd, 'how' | 'exitCode' | 'limitUntil'>;

/** An iteration that is over, with what was decided about it. `seq` is of the journal of its run. */
export type EndedIteration = {
  readonly end: IterationEnd & { readonly decision: LoopDecision };
  readonly seq?: number;
  /** Its run has told people of the end already. */
  readonly isTold: boolean;
};

/** Reads how an iteration ended: from the journal of its run, or from what a plain worker printed. */
export async function readEnd(
  world: { readonly env: Environment; readonly clock: Clock; readonly tmux: Tmux },
  one: Driven,
  seen: SeenEnd,
): Promise<EndedIteration> {
  const { loop } = one;
  const lines = () => printedLines(world, one);
  const at = world.clock.now();
  const run = runOf(one.worker, loop);
  const read: Omit<RunIteration, 'seq'> & { readonly seq?: number } =
    run === null
      ? { end: { ...seen, ...(await outputOf(world, one, seen, lines)), at }, isTold: false }
      : await readIteration(run, {
          iteration: loop.iteration,
          startedAt: loop.iterationStartedAt ?? at,
          since: loop.runSeq ?? 0,
          at,
          how: seen.how === 'lost' ? 'lost' : 'exited',
          exitCode: seen.exitCode,
          output: lines,
        });
  return { ...read, end: { ...read.end, decision: decisionOn(loop, read.end) } };
}

/** What the output says of an end that came by itself: that all is done, or that a usage limit cut it. */
async function outputOf(
  { env, clock }: { readonly env: Environment; readonly clock: Clock },
  one: Driven,
  { how, exitCode }: SeenEnd,
  output: () => Promise<string[]>,
): Promise<Partial<IterationEnd> & { readonly doneMatched: boolean }> {
  const { lookIfDone } = turnOf(env, one);
  const mayBeLimited = how === 'exited' && exitCode !== 0 && one.agent !== 'custom';
  // An agent with a screen of its own takes it away when it is ended: what it showed before counts.
  if (one.shows && how !== 'exited' && how !== 'lost') return { doneMatched: true };
  if (lookIfDone === null && !mayBeLimited) return { doneMatched: false };
  const lines = await output();
  if (lookIfDone?.(lines, one.echoed).done) return { doneMatched: true };
  const limit = mayBeLimited ? limitAtExit(one.agent, lines, clock.now()) : null;
  if (limit === null) return { doneMatched: false };
  return { doneMatched: false, how: 'limited', ...(limit.until ? { limitUntil: limit.until } : {}) };
}

/** What a process printed is on the screen, or just above it. */
async function printedLines(
  { env, clock, tmux }: { readonly env: Environment; readonly clock: Clock; readonly tmux: Tmux },
  one: Driven,
): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const panes = await tmux.panes();
    const pane = panes.find(({ mark }) => {
      const place = readMark(env, mark);
      return place?.name === one.name && place.launch === one.loop.launch;
    });
    if (pane === undefined) return [];
    // Dead means that tmux has read all that was printed.
    if (pane.dead || attempt === attempts) return tmux.capture(pane.id, historyLines);
    await clock.sleep(pauseMs);
  }
}

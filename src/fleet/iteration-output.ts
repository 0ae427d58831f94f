import type { Clock } from '../os/clock.ts';
import type { Environment } from '../os/process/program.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { decisionOn } from './decide-turn.ts';
import { type DrivenLoop, turnOf } from './driven-loop.ts';
import type { DecidedEnd, IterationEnd } from './iteration-end.ts';
import { type RunIteration, readIteration } from './run-iteration.ts';
import { limitAtExit } from './screen/classify.ts';
import { runOf } from './supervised-run.ts';
import { readOwner } from './worker-window.ts';

const historyLines = 2000;
const attempts = 40;
const pauseMs = 25;

/** End of an iteration as the supervisor saw it. */
export type EndCause = Pick<IterationEnd, 'how' | 'exitCode' | 'limitUntil'>;

/** An ended iteration with its decision. */
export type EndedIteration = Partial<RunIteration> & { readonly end: DecidedEnd };

type World = { readonly env: Environment; readonly clock: Clock; readonly tmux: Tmux };

/** Reads how an iteration ended: from the journal of its run, or from what a plain worker printed. */
export async function readEnd(world: World, one: DrivenLoop, cause: EndCause): Promise<EndedIteration> {
  const { loop } = one;
  const lines = () => printedLines(world, one);
  const at = world.clock.now();
  const run = runOf(one.worker, loop);
  const iteration =
    run === null
      ? { end: { ...cause, ...(await outputOf(world, one, cause, lines)), at } }
      : readIteration(run, {
          env: world.env,
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
async function outputOf(
  { env, clock }: World,
  one: DrivenLoop,
  { how, exitCode }: EndCause,
  output: () => Promise<string[]>,
): Promise<Partial<IterationEnd> & { readonly doneMatched: boolean }> {
  const { lookIfDone } = turnOf(env, one);
  const mayBeLimited = how === 'exited' && exitCode !== 0 && one.agent !== 'custom';
  // An agent with a full screen clears it at its end: what it showed before counts.
  if (one.showsPattern && how !== 'exited' && how !== 'lost') return { doneMatched: true };
  if (lookIfDone === null && !mayBeLimited) return { doneMatched: false };
  const lines = await output();
  if (lookIfDone?.(lines, one.echoed).done) return { doneMatched: true };
  const limit = mayBeLimited ? limitAtExit(one.agent, lines, clock.now()) : null;
  if (limit === null) return { doneMatched: false };
  return { doneMatched: false, how: 'limited', ...(limit.until ? { limitUntil: limit.until } : {}) };
}

/** Returns what a process printed: its screen and the lines just above it. */
async function printedLines({ env, clock, tmux }: World, one: DrivenLoop): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const panes = await tmux.panes();
    const pane = panes.find(({ label }) => {
      const owner = readOwner(env, label);
      return owner?.name === one.name && owner.launch === one.loop.launch;
    });
    if (pane === undefined) return [];
    // Of a dead pane, tmux has read all output.
    if (pane.dead || attempt === attempts) return tmux.capture(pane.id, historyLines);
    await clock.sleep(pauseMs);
  }
}

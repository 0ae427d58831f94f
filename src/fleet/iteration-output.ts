import type { Clock } from '../system/clock.ts';
import type { Environment } from '../system/program.ts';
import type { Tmux } from '../system/tmux.ts';
import { type Driven, turnOf } from './driven.ts';
import type { IterationEnd } from './port.ts';
import { readMark } from './runner.ts';
import { limitAtExit } from './screen/classify.ts';

const historyLines = 2000;
const attempts = 40;
const pauseMs = 25;

/** What an agent has printed by the end of its iteration: that all is done, or that a usage limit cut it. */
export async function readOutput(
  env: Environment,
  clock: Clock,
  tmux: Tmux,
  one: Driven,
  { how, exitCode }: Pick<IterationEnd, 'how' | 'exitCode'>,
): Promise<Partial<IterationEnd> & { readonly doneMatched: boolean }> {
  const { lookIfDone } = turnOf(env, one);
  const mayBeLimited = how === 'exited' && exitCode !== 0 && one.agent !== 'custom';
  // An agent with a screen of its own takes it away when it is ended: what it showed before counts.
  if (one.shows && how !== 'exited' && how !== 'lost') return { doneMatched: true };
  if (lookIfDone === null && !mayBeLimited) return { doneMatched: false };
  const lines = await printed(env, clock, tmux, one);
  if (lookIfDone?.(lines, one.echoed).done) return { doneMatched: true };
  const limit = mayBeLimited ? limitAtExit(one.agent, lines, clock.now()) : null;
  if (limit === null) return { doneMatched: false };
  return { doneMatched: false, how: 'limited', ...(limit.until ? { limitUntil: limit.until } : {}) };
}

/** What an agent printed is on the screen, or just above it. */
async function printed(env: Environment, clock: Clock, tmux: Tmux, one: Driven): Promise<string[]> {
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

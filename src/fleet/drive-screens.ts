import { systemClock } from '../os/clock.ts';
import { lstatOf } from '../os/files/files.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { wrapUpText } from './context.ts';
import { finishIteration, handleLoop } from './drive-loop.ts';
import { type DrivenLoop, turnOf } from './driven-loop.ts';
import { isInIteration } from './files/loops.ts';
import { type Supervision, serverOf, setWhy, tell, watchTime } from './supervision.ts';
import { isCalm, lookAtScreen, type ScreenLook } from './watch-screen.ts';
import { ownerLabel, readOwner } from './worker-window.ts';

/** Pause before Enter: agents take it for a part of the paste otherwise. */
const enterMs = 500;
/** Linux updates the mtime of a terminal at most every 8 seconds: a younger one may hide a write. */
const ttyStepMs = 9000;

/** Looks at the screens that are due, with one call for each tmux server, and acts on what they show. */
export async function driveScreens(all: Supervision): Promise<void> {
  const { tickMs, loops } = all;
  const at = watchTime(all);
  const due = [...loops.values()].filter(
    (one) => isInIteration(one.loop) && one.startedAt < at && isDue(one, at),
  );
  // Only a calm screen needs the state of its terminal.
  const calm = due.filter(({ motion }) => motion !== null && isCalm(motion, at + tickMs, tickMs));
  const ttys = new Map(calm.map((one) => [one, ttyOf(one)]));
  for (const tmux of new Set(due.map((one) => serverOf(all, one)))) {
    const group = due.filter((one) => serverOf(all, one) === tmux);
    // Before the call: the screen may change while its answer waits to be read.
    const lookedAt = watchTime(all);
    const look = await lookAtServer(all, tmux, group);
    // Without an answer from tmux, no window counts as lost.
    if (look === null) continue;
    for (const one of group) {
      // Started after this look, or being handled.
      if (one.startedAt >= at || one.busy || all.leaving) continue;
      const pane = look.panes.get(one.name) ?? null;
      const isNew = one.pane?.id !== pane?.id;
      one.pane = pane;
      one.isWatched ||= pane !== null;
      // The signal files of a working agent are read on an event or at the next reread.
      const goesOn = pane && !pane.dead && !isNew && pane.owner.launch === one.loop.launch;
      if (!goesOn) await handleLoop(all, one);
      const text = pane === null || pane.dead || isNew ? undefined : look.screens.get(pane.id);
      if (text !== undefined && loops.get(one.name) === one) {
        await driveScreen(all, one, text, { lookedAt, tty: ttys.get(one) ?? '' });
      }
    }
  }
}

/** Returns the panes of a server by worker, and their screens; null if tmux does not answer. */
async function lookAtServer({ env }: Supervision, tmux: Tmux, group: readonly DrivenLoop[]) {
  const paneIds = group.flatMap(({ pane }) => (pane && !pane.dead ? [pane.id] : []));
  const answer = await tmux.screens(paneIds).catch(() => null);
  if (answer === null) return null;
  const panes = answer.panes.flatMap((pane) => {
    const owner = readOwner(env, pane.label);
    return owner === null ? [] : [[owner.name, { ...pane, owner }] as const];
  });
  return { panes: new Map(panes), screens: answer.screens };
}

/** True if a screen has to be looked at: a calm one only after a write to its terminal. */
function isDue(one: DrivenLoop, at: number): boolean {
  if (one.nextLook > at) return false;
  return one.quiet === null || at >= one.quiet.until || one.quiet.tty !== ttyOf(one);
}

function ttyOf({ pane }: DrivenLoop): string {
  const stat = pane ? lstatOf(pane.tty) : null;
  if (stat === null || systemClock.now() - stat.mtimeMs <= ttyStepMs) return '';
  return `${stat.ino}/${stat.mtimeMs}`;
}

async function driveScreen(
  all: Supervision,
  one: DrivenLoop,
  text: string,
  { lookedAt, tty }: { readonly lookedAt: number; readonly tty: string },
): Promise<void> {
  if (one.busy || !one.pane) return;
  const { env, clock, tickMs } = all;
  const look = lookAtScreen(env, one, text, { now: clock.now(), monotonic: lookedAt, tickMs, tty });
  // An end is reported when it is booked, after its account is held.
  if (look.why && look.end === null) setWhy(all, one, look.why);
  if (look.end === null && !look.isReady && look.context?.kind !== 'wrap-up') return;
  one.busy = true;
  try {
    await actOnScreen(all, one, look);
  } finally {
    one.busy = false;
  }
  if (look.end !== null) await handleLoop(all, one);
}

async function actOnScreen(
  all: Supervision,
  one: DrivenLoop,
  { end, until, context }: ScreenLook,
): Promise<void> {
  if (context?.kind === 'wrap-up') {
    // A working agent reads typed text with its next step.
    await typeIn(all, one, wrapUpText);
    return tell(all, one, 'context', `context at ${context.percent} %: asked to wrap up`);
  }
  if (end === null) {
    await typeIn(all, one, turnOf(all.env, one).prompt.trimEnd());
    return tell(all, one, 'prompted', 'the agent was ready and got its prompt');
  }
  if (context?.kind === 'end') {
    const isLast = one.loop.iteration >= one.loop.settings.max_iterations;
    tell(all, one, 'context', `${context.because}${isLast ? '' : ', restarting'}`);
  }
  const limit = until === undefined ? {} : { limitUntil: until };
  await finishIteration(all, one, { how: end, exitCode: null, ...limit });
}

/** Types a text into the agent, once: the paste changes the label of the pane. */
async function typeIn(all: Supervision, one: DrivenLoop, text: string): Promise<void> {
  const { pane, loop, name } = one;
  if (!pane) return;
  const tmux = serverOf(all, one);
  const owner = { name, launch: loop.launch, prompted: true };
  await tmux.paste(pane.id, text, ownerLabel(all.env, owner));
  one.pane = { ...pane, owner };
  await all.clock.sleep(enterMs);
  await tmux.sendKeys(pane.id, 'Enter');
}

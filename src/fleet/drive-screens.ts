import { systemClock } from '../os/clock.ts';
import { lstatOf } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { wrapUpText } from './context.ts';
import { finishIteration, handleLoop } from './drive-loop.ts';
import { type DrivenLoop, turnOf } from './driven-loop.ts';
import { isInIteration, needsYou, type Why } from './files/loops.ts';
import { classify, isReady } from './screen/classify.ts';
import { follow, isInactive } from './screen/motion.ts';
import { type Supervision, serverOf, setWhy, tell, watchTime } from './supervision.ts';
import { ownerLabel, panesByWorker } from './worker-window.ts';

/** Pause before Enter: agents take it for a part of the paste otherwise. */
const enterMs = 500;
/** Linux updates the mtime of a terminal at most every 8 seconds: a younger one may hide a write. */
const ttyStepMs = 9000;
/** A screen that stands still this many ticks is looked at only after a write to its terminal. */
const calmTicks = 5;

type ScreenAction =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'show'; readonly why: Why }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'wrap-up'; readonly percent: number }
  | {
      readonly kind: 'end';
      readonly how: 'done' | 'inactive' | 'limited' | 'wrapped-up';
      readonly until?: number;
      readonly because?: string;
    };

/** Time of a look, and the state of the terminal before it; empty if that is not known. */
type LookTime = { readonly lookedAt: number; readonly tty: string };

/** Looks at the screens that are due, with one call for each tmux server, and acts on what they show. */
export async function driveScreens(all: Supervision): Promise<void> {
  const at = watchTime(all);
  const due = [...all.loops.values()].filter(
    (one) => isInIteration(one.loop) && one.startedAt < at && isDue(one, at),
  );
  const ttys = new Map(due.map((one) => [one, isCalm(one, at + all.tickMs, all.tickMs) ? ttyOf(one) : '']));
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
      if (text !== undefined && all.loops.get(one.name) === one) {
        await driveScreen(all, one, text, { lookedAt, tty: ttys.get(one) ?? '' });
      }
    }
  }
}

/** Returns the panes of a server by worker, and their screens; null if tmux does not answer. */
async function lookAtServer({ env }: Supervision, tmux: Tmux, group: readonly DrivenLoop[]) {
  const paneIds = group.flatMap(({ pane }) => (pane && !pane.dead ? [pane.id] : []));
  const answer = await tmux.screens(paneIds).catch(() => null);
  return answer && { panes: panesByWorker(env, answer.panes), screens: answer.screens };
}

function isDue({ quiet, pane }: DrivenLoop, at: number): boolean {
  return quiet === null || at >= quiet.until || quiet.tty !== ttyOf({ pane });
}

function isCalm({ motion }: DrivenLoop, at: number, tickMs: number): boolean {
  return motion !== null && at - motion.changedAt >= calmTicks * tickMs;
}

function ttyOf({ pane }: Pick<DrivenLoop, 'pane'>): string {
  const stat = pane ? lstatOf(pane.tty) : null;
  if (stat === null || systemClock.now() - stat.mtimeMs <= ttyStepMs) return '';
  return `${stat.ino}/${stat.mtimeMs}`;
}

async function driveScreen(all: Supervision, one: DrivenLoop, text: string, time: LookTime): Promise<void> {
  if (one.busy || !one.pane) return;
  const action = lookAtScreen(all, one, text, time);
  if (action.kind === 'nothing') return;
  if (action.kind === 'show') return setWhy(all, one, action.why);
  one.busy = true;
  try {
    await actOnScreen(all, one, action);
  } finally {
    one.busy = false;
  }
  if (action.kind === 'end') await handleLoop(all, one);
}

async function actOnScreen(
  all: Supervision,
  one: DrivenLoop,
  action: Exclude<ScreenAction, { kind: 'nothing' | 'show' }>,
): Promise<void> {
  if (action.kind === 'wrap-up') {
    // A working agent reads typed text with its next step.
    await typeIn(all, one, wrapUpText);
    return tell(all, one, 'context', `context at ${action.percent} %: asked to wrap up`);
  }
  if (action.kind === 'prompt') {
    await typeIn(all, one, turnOf(all.env, one).prompt.trimEnd());
    return tell(all, one, 'prompted', 'the agent was ready and got its prompt');
  }
  const { how, until, because } = action;
  if (because !== undefined) {
    const isLast = one.loop.iteration >= one.loop.settings.max_iterations;
    tell(all, one, 'context', `${because}${isLast ? '' : ', restarting'}`);
  }
  const limit = until === undefined ? {} : { limitUntil: until };
  await finishIteration(all, one, { how, exitCode: null, ...limit });
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

/** Follows the screen of an agent, and reports a limit, silence, or a match that ends it as done. */
function lookAtScreen(
  all: Supervision,
  one: DrivenLoop,
  text: string,
  { lookedAt, tty }: LookTime,
): ScreenAction {
  const { env, tickMs } = all;
  const { loop, agent } = one;
  const now = all.clock.now();
  const timeoutMs = loop.settings.inactivity_timeout * 1000;
  const hasChanged = text !== one.text || one.motion === null;
  const lines = text.split('\n');
  const isRun = loop.options.run !== undefined;
  if (hasChanged && !isRun) {
    one.showsPattern = showsPattern(env, one, lines);
    if (one.showsPattern && loop.options.checkDoneContinuous) return { kind: 'end', how: 'done' };
  }
  // The first look comes up to two ticks after the start, and nothing has been seen to change since.
  const age = Math.max(0, now - (loop.iterationStartedAt ?? now));
  const unseenMs = one.motion === null ? Math.min(age, 2 * tickMs, timeoutMs / 2) : 0;
  const motion = one.motion && !hasChanged ? one.motion : follow(one.motion, lines, lookedAt - unseenMs);
  one.text = text;
  one.motion = motion;
  if (one.pane && !one.pane.owner.prompted && isReady(agent, lines)) return { kind: 'prompt' };

  // `ralph run` watches its own timeouts and markers.
  if (isRun) return { kind: 'show', why: { state: 'working', since: now } };
  const before = one.screen;
  const screen = hasChanged ? classify(agent, lines, now) : before;
  one.screen = screen;
  const asks = screen !== null && needsYou(screen.state);
  // Not reported before a second look confirms it: a screen that is being drawn may show anything.
  if ((asks || screen?.state === 'limit') && before?.state !== screen.state) return { kind: 'nothing' };
  if (screen?.state === 'limit') {
    return { kind: 'end', how: 'limited', ...(screen.until === undefined ? {} : { until: screen.until }) };
  }
  // A question waits for a person as long as it takes, and nothing may be typed into it.
  const context = asks ? undefined : turnOf(env, one).context?.(lines);
  if (context?.kind === 'end') return { kind: 'end', how: 'wrapped-up', because: context.because };
  if (!asks && isInactive(motion, lookedAt, timeoutMs)) return { kind: 'end', how: 'inactive' };
  const isStill = isCalm(one, lookedAt, tickMs);
  const until = asks ? Number.POSITIVE_INFINITY : motion.changedAt + timeoutMs;
  one.quiet = isStill && tty !== '' ? { tty, until } : null;
  if (context?.kind === 'wrap-up') return context;
  return { kind: 'show', why: { since: now, ...(screen ?? { state: isStill ? 'idle' : 'working' }) } };
}

function showsPattern(env: Environment, one: DrivenLoop, lines: readonly string[]): boolean {
  const { lookIfDone } = turnOf(env, one);
  if (lookIfDone === null) return false;
  const check = lookIfDone(lines, one.echoed);
  one.echoed = check.echoed;
  return check.done;
}

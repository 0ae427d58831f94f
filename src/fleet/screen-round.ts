import { systemClock } from '../system/clock.ts';
import { lstatOf } from '../system/files.ts';
import type { Environment } from '../system/program.ts';
import type { Tmux } from '../system/tmux.ts';
import type { Driven } from './driven.ts';
import { readMark } from './runner.ts';
import { isCalm } from './watch-screen.ts';

/** What one look showed of a loop. */
export type Look = {
  readonly pane: Driven['pane'];
  readonly text: string | undefined;
  /** The state of its terminal before the look; empty where that is not known. */
  readonly tty: string;
};

/** Looks at the screens that are due, with one call for each server, and hands them on one after the other. */
export async function lookAtScreens(
  env: Environment,
  { at, tickMs }: { readonly at: number; readonly tickMs: number },
  all: Iterable<Driven>,
  serverOf: (one: Driven) => Tmux,
  use: (one: Driven, look: Look) => Promise<void>,
): Promise<void> {
  const due = [...all].filter(
    (one) => one.loop.iteration > one.loop.ended && one.startedAt < at && isDue(one, at),
  );
  // Of a screen that moves, nobody needs the terminal.
  const calm = due.filter(({ motion }) => motion !== null && isCalm(motion, at + tickMs, tickMs));
  const ttys = new Map(calm.map((one) => [one, ttyOf(one)]));
  for (const [tmux, group] of groupByServer(due, serverOf)) {
    const wanted = group.flatMap(({ pane }) => (pane && !pane.dead ? [pane.id] : []));
    const { panes, screens } = await tmux.screens(wanted);
    const byName = new Map(
      panes.flatMap((pane) => {
        const place = readMark(env, pane.mark);
        return place === null ? [] : [[place.name, { ...pane, place }] as const];
      }),
    );
    for (const one of group) {
      // It was started after this look, or somebody is at it.
      if (one.startedAt >= at || one.busy) continue;
      const pane = byName.get(one.name) ?? null;
      await use(one, {
        pane,
        text: pane === null ? undefined : screens.get(pane.id),
        tty: ttys.get(one) ?? '',
      });
    }
  }
}

/** A calm terminal tells by itself that something was written to it; Linux keeps that time to eight seconds. */
function isDue(one: Driven, at: number): boolean {
  if (one.nextLook > at) return false;
  return one.quiet === null || at >= one.quiet.until || one.quiet.tty !== ttyOf(one);
}

/** Linux notes a write to a terminal only if the last one was noted up to 8 seconds before: a fresh stamp says nothing. */
const ttyStepMs = 9000;

function ttyOf({ pane }: Driven): string {
  const stat = pane ? lstatOf(pane.tty) : null;
  if (stat === null || systemClock.now() - stat.mtimeMs <= ttyStepMs) return '';
  return `${stat.ino}/${stat.mtimeMs}`;
}

function groupByServer(all: readonly Driven[], serverOf: (one: Driven) => Tmux): Map<Tmux, Driven[]> {
  const groups = new Map<Tmux, Driven[]>();
  for (const one of all) {
    const server = serverOf(one);
    const group = groups.get(server);
    if (group === undefined) groups.set(server, [one]);
    else group.push(one);
  }
  return groups;
}

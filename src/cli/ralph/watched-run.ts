import type { AgentAdapter } from '../../agents/adapter.ts';
import { runPaths } from '../../config/paths.ts';
import { recordedAdapter } from '../../drive/process/attempts.ts';
import { type LocatedRun, locateRun } from '../../drive/session/session-runs.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { tailJournal } from '../../journal/journal-tail.ts';
import { type IterationView, RunView } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailLines } from '../../os/files/tail-lines.ts';
import { type LiveFigures, noFigures } from '../../show/terminal/status-line.ts';
import type { Style } from '../../show/terminal/style.ts';
import { createLiveOutput } from '../../show/watch/live-output.ts';
import type { Context } from '../kernel/spec.ts';
import { isDriven } from './located-run.ts';

/** How much of a stream is read when the watch begins in the middle of it. */
const lastBytes = 256 * 1024;

export type WatchedRun = ReturnType<typeof watchRun>;

/** Reads a run while another process writes it. */
export function watchRun({ env, cwd }: Context, first: LocatedRun, style: Style) {
  let located = first;
  const tail = tailJournal(located.journal);
  let loop = new RunView(first.run);
  const stream = watchStream(cwd, first.run, style);
  return {
    run: first.run,
    get loop() {
      return loop;
    },
    /** Reads and returns the new events. */
    read(): readonly JournalEvent[] {
      // The hooks of a session say when its loop is over.
      if (located.session !== null) located = locateRun(env, cwd, first.run);
      const { events, damaged, unknown, restarted } = tail.read();
      if (restarted) {
        loop = new RunView(first.run);
        stream.forget();
      }
      loop.damaged += damaged;
      loop.unknown += unknown;
      for (const event of events) {
        stream.event(event);
        addEvent(loop, event);
      }
      const newest = loop.iterations.at(-1);
      if (newest !== undefined && located.session === null) stream.read(newest);
      return events;
    },
    /** True if its process lives, or its session may go on. */
    isAlive: () => isDriven(cwd, located),
    /** What the agent of the newest iteration wrote so far. */
    output: () => stream.output()?.text() ?? '',
    figures(): LiveFigures {
      const isRunning = loop.iterations.at(-1)?.agentMs === null && loop.state === 'going';
      return (isRunning && stream.output()?.figures()) || noFigures;
    },
  };
}

function watchStream(cwd: string, run: string, style: Style) {
  let adapter: AgentAdapter | null = null;
  let index = -1;
  let tail = tailLines('');
  let output: ReturnType<typeof createLiveOutput> | null = null;
  return {
    output: () => output,
    forget() {
      index = -1;
    },
    event(event: JournalEvent) {
      if ((event.type === 'run.started' || event.type === 'run.resumed') && event.agent !== undefined)
        adapter = recordedAdapter(event.agent, event.output) ?? adapter;
    },
    read(iteration: IterationView) {
      if (adapter === null) return;
      const isNew = iteration.index !== index;
      if (isNew) tail = tailLines(runPaths(cwd, run).stream(iteration.iteration), { lastBytes });
      index = iteration.index;
      const { lines, restarted } = tail.read();
      if (isNew || restarted) output = createLiveOutput(adapter, style, () => systemClock.now());
      for (const line of lines) output?.line(line);
    },
  };
}

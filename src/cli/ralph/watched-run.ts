import type { AgentAdapter } from '../../agents/adapter.ts';
import { runPaths } from '../../config/paths.ts';
import { recordedAdapter } from '../../drive/process/rejudge.ts';
import { type LocatedRun, locateRun } from '../../drive/session/session-runs.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { tailJournal } from '../../journal/journal-tail.ts';
import { newRunView, type RunView } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailLines } from '../../os/files/tail-lines.ts';
import { type LiveFigures, noFigures } from '../../show/terminal/status-line.ts';
import type { Style } from '../../show/terminal/style.ts';
import { createLiveOutput } from '../../show/watch/live-output.ts';
import type { Context } from '../kernel/spec.ts';
import { isDriven } from './located-run.ts';

/** How much of a stream is read when the watch begins in the middle of it. */
const lastBytes = 256 * 1024;

/** A run that is read while others write it. */
export type WatchedRun = {
  readonly located: LocatedRun;
  readonly loop: RunView;
  /** Reads what is new; the events that came. */
  read(): readonly JournalEvent[];
  /** Whether its process lives, or its session may go on. */
  isAlive(): boolean;
  /** What the agent of the newest iteration wrote so far. */
  output(): string;
  figures(): LiveFigures;
};

export function watchRun(context: Context, first: LocatedRun, style: Style): WatchedRun {
  const { env, cwd } = context;
  let located = first;
  let tail = tailJournal(located.journal);
  let loop = newRunView(first.run);
  let adapter: AgentAdapter | null = null;
  let stream = { go: -1, tail: tailLines(''), output: null as ReturnType<typeof createLiveOutput> | null };

  function startOver(): void {
    loop = newRunView(first.run);
    stream = { ...stream, go: -1 };
  }

  /** The journal of a loop inside a session moves when the loop ends. */
  function relocate(): void {
    if (located.session === null || located.session.status === 'ended') return;
    const now = locateRun(env, cwd, first.run);
    if (now.journal !== located.journal) {
      tail = tailJournal(now.journal);
      startOver();
    }
    located = now;
  }

  function readStream(): void {
    const one = loop.iterations.at(-1);
    if (one === undefined || adapter === null || located.session !== null) return;
    const begin = () => (adapter === null ? null : createLiveOutput(adapter, style, () => systemClock.now()));
    if (one.index !== stream.go) {
      const path = runPaths(cwd, first.run).stream(one.iteration);
      stream = { go: one.index, tail: tailLines(path, { lastBytes }), output: begin() };
    }
    const { lines, restarted } = stream.tail.read();
    if (restarted) stream = { ...stream, output: begin() };
    for (const line of lines) stream.output?.line(line);
  }

  return {
    get located() {
      return located;
    },
    get loop() {
      return loop;
    },
    read() {
      relocate();
      const { events, damaged, unknown, restarted } = tail.read();
      if (restarted) startOver();
      loop.damaged += damaged;
      loop.unknown += unknown;
      for (const event of events) {
        if ((event.type === 'run.started' || event.type === 'run.resumed') && event.agent !== undefined)
          adapter = recordedAdapter(event.agent, event.output) ?? adapter;
        addEvent(loop, event);
      }
      readStream();
      return events;
    },
    isAlive: () => isDriven(cwd, located),
    output: () => stream.output?.text() ?? '',
    figures() {
      const isRunning = loop.iterations.at(-1)?.agentMs === null && loop.state === 'going';
      return isRunning ? (stream.output?.figures() ?? noFigures) : noFigures;
    },
  };
}

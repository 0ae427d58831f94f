import { type AgentName, agentNameOf } from '../agents/registry.ts';
import { compilePattern } from '../core/pattern.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { loopPaths } from '../store/fleet-paths.ts';
import type { LoopWorker } from '../store/fleet-workers.ts';
import { readText } from '../system/files.ts';
import type { Environment } from '../system/program.ts';
import type { Pane } from '../system/tmux.ts';
import { type ContextWatch, watchContext } from './context.ts';
import type { PaneMark } from './runner.ts';
import type { Screen } from './screen/classify.ts';
import { type DoneLook, doneLook } from './screen/done.ts';
import type { Motion } from './screen/motion.ts';

/** A loop in the hands of the supervisor, with what it remembers of it between two looks. */
export type Driven = {
  readonly name: string;
  readonly agent: AgentName;
  worker: LoopWorker;
  loop: LoopRecord;
  /** Undefined until somebody looked after the start. */
  pane: (Pane & { readonly place: PaneMark }) | null | undefined;
  missedBefore: boolean;
  /** When its pane was started, by the clock that never jumps: an older look does not know it. */
  startedAt: number;
  /** The screen as it came from tmux, and since when it shows that. */
  text: string;
  motion: Motion | null;
  nextLook: number;
  /** A calm screen and the state of its terminal then: as long as nothing is written to that, no look is needed. */
  quiet: { readonly tty: string; readonly until: number } | null;
  /** What this iteration was asked and how its end is known. */
  turn: {
    readonly launch: number;
    readonly prompt: string;
    /** Null without a pattern. */
    readonly lookIfDone: DoneLook | null;
    readonly context: ContextWatch | null;
  } | null;
  echoed: boolean;
  /** The done pattern is on the screen. */
  shows: boolean;
  /** The limits of the fleet keep it back. */
  keptBack: boolean;
  /** What the screen said at the last look. */
  screen: Screen | null;
  /** The same trouble at the look before: a screen that is being drawn may show anything. */
  trouble: string;
  busy: boolean;
  again: boolean;
  cancelTimer: () => void;
};

export function newDriven(worker: LoopWorker, loop: LoopRecord): Driven {
  return {
    name: worker.name,
    agent: agentNameOf(worker.cmd[0] ?? ''),
    worker,
    loop,
    pane: undefined,
    missedBefore: false,
    startedAt: 0,
    text: '',
    motion: null,
    nextLook: 0,
    quiet: null,
    turn: null,
    echoed: false,
    shows: false,
    keptBack: false,
    screen: null,
    trouble: '',
    busy: false,
    again: false,
    cancelTimer: () => {},
  };
}

/** A new iteration: what was seen of the one before does not count. */
export function forgetScreen(driven: Driven, startedAt: number): void {
  driven.pane = undefined;
  driven.missedBefore = false;
  driven.startedAt = startedAt;
  driven.text = '';
  driven.motion = null;
  driven.nextLook = 0;
  driven.quiet = null;
  driven.turn = null;
  driven.echoed = false;
  driven.shows = false;
  driven.screen = null;
  driven.trouble = '';
}

/** What the running iteration was asked, and its done pattern; a pattern that somebody edited badly matches nothing. */
export function turnOf(env: Environment, driven: Driven) {
  const { loop, name } = driven;
  if (driven.turn?.launch === loop.launch) return driven.turn;
  const { done_pattern: source } = loop.settings;
  const prompt = readText(loopPaths(env, name).prompt) ?? '';
  const lookIfDone = source === null ? null : tryPattern(source, prompt);
  const context = watchContext(env, driven.worker, loop);
  const turn = { launch: loop.launch, prompt, lookIfDone, context };
  driven.turn = turn;
  return turn;
}

function tryPattern(source: string, prompt: string): DoneLook | null {
  try {
    return doneLook(compilePattern(source), prompt);
  } catch {
    return null;
  }
}

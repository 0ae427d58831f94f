import { type AgentName, agentNameOf } from '../agents/registry.ts';
import { compilePattern } from '../core/pattern.ts';
import { readText } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';
import type { Pane } from '../os/terminal/tmux.ts';
import { type ContextWatch, watchContext } from './context.ts';
import type { LoopRecord } from './files/loops.ts';
import { loopPaths } from './files/paths.ts';
import type { LoopWorker } from './files/workers.ts';
import type { Screen } from './screen/classify.ts';
import { type DoneLook, doneLook } from './screen/done.ts';
import type { Motion } from './screen/motion.ts';
import type { PaneOwner } from './worker-window.ts';

/** What the supervisor remembers of the screen of one iteration. */
type ScreenState = {
  /** Undefined until somebody looked after the start. */
  pane: (Pane & { readonly owner: PaneOwner }) | null | undefined;
  /** The pane was missing at the look before. */
  missedBefore: boolean;
  /** When its pane was started, by the clock that never jumps: an older look does not know it. */
  startedAt: number;
  /** The screen as it came from tmux, and since when it shows that. */
  text: string;
  motion: Motion | null;
  nextLook: number;
  /** A calm screen and the state of its terminal then: as long as nothing is written to that, no look is needed. */
  quiet: { readonly tty: string; readonly until: number } | null;
  /** Prompt of this iteration, and how its end is recognised. */
  turn: {
    readonly launch: number;
    readonly prompt: string;
    /** Null without a pattern. */
    readonly lookIfDone: DoneLook | null;
    readonly context: ContextWatch | null;
  } | null;
  /** The prompt was on the screen. */
  echoed: boolean;
  /** The done pattern is on the screen. */
  showsPattern: boolean;
  /** What the screen said at the last look. */
  screen: Screen | null;
  /** The state of the look before: a screen that is being drawn may show anything. */
  trouble: string;
};

/** A loop that the supervisor drives. */
export type DrivenLoop = ScreenState & {
  readonly name: string;
  readonly agent: AgentName;
  worker: LoopWorker;
  loop: LoopRecord;
  /** The limits of the fleet keep it back. */
  keptBack: boolean;
  /** Somebody handles it now, and is to look once more. */
  busy: boolean;
  again: boolean;
  cancelTimer: () => void;
};

export function newDrivenLoop(worker: LoopWorker, loop: LoopRecord): DrivenLoop {
  return {
    ...newScreenState(0),
    name: worker.name,
    agent: agentNameOf(worker.cmd[0] ?? ''),
    worker,
    loop,
    keptBack: false,
    busy: false,
    again: false,
    cancelTimer: () => {},
  };
}

/** Forgets the screen of the iteration before. */
export function forgetScreen(one: DrivenLoop, startedAt: number): void {
  Object.assign(one, newScreenState(startedAt));
}

function newScreenState(startedAt: number): ScreenState {
  return {
    pane: undefined,
    missedBefore: false,
    startedAt,
    text: '',
    motion: null,
    nextLook: 0,
    quiet: null,
    turn: null,
    echoed: false,
    showsPattern: false,
    screen: null,
    trouble: '',
  };
}

/** Prompt and done pattern of the running iteration; an invalid pattern matches nothing. */
export function turnOf(env: Environment, one: DrivenLoop) {
  const { loop, name } = one;
  if (one.turn?.launch === loop.launch) return one.turn;
  const { done_pattern: source } = loop.settings;
  const prompt = readText(loopPaths(env, name).prompt) ?? '';
  const lookIfDone = source === null ? null : tryPattern(source, prompt);
  const context = watchContext(env, one.worker, loop);
  one.turn = { launch: loop.launch, prompt, lookIfDone, context };
  return one.turn;
}

function tryPattern(source: string, prompt: string): DoneLook | null {
  try {
    return doneLook(compilePattern(source), prompt);
  } catch {
    return null;
  }
}

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

/** Memory of the supervisor about the screen of one iteration. */
type ScreenState = {
  /** Undefined until the first look after the start. */
  pane: (Pane & { readonly owner: PaneOwner }) | null | undefined;
  missedBefore: boolean;
  /** True once this supervisor has started or seen its pane. */
  isWatched: boolean;
  /** Start of its pane, in monotonic time: an older look does not know the pane. */
  startedAt: number;
  /** The screen as it came from tmux, and since when it shows that. */
  text: string;
  motion: Motion | null;
  /** State of the terminal of a calm screen: until it changes, no look is needed. */
  quiet: { readonly tty: string; readonly until: number } | null;
  turn: {
    readonly launch: number;
    readonly prompt: string;
    readonly lookIfDone: DoneLook | null;
    readonly context: ContextWatch | null;
  } | null;
  echoed: boolean;
  showsPattern: boolean;
  screen: Screen | null;
};

export type DrivenLoop = ScreenState & {
  readonly name: string;
  readonly agent: AgentName;
  worker: LoopWorker;
  loop: LoopRecord;
  /** True while the limits of the fleet keep it back. */
  keptBack: boolean;
  /** `busy` while it is handled; `again` if it has to be handled once more. */
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

export function forgetScreen(one: DrivenLoop, startedAt: number): void {
  Object.assign(one, newScreenState(startedAt));
}

function newScreenState(startedAt: number): ScreenState {
  return {
    pane: undefined,
    missedBefore: false,
    isWatched: false,
    startedAt,
    text: '',
    motion: null,
    quiet: null,
    turn: null,
    echoed: false,
    showsPattern: false,
    screen: null,
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

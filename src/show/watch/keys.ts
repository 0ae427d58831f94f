/** The selection and the pane that a person chose. */
export type WatchState = {
  /** Index of an iteration; null follows the newest. */
  readonly selected: number | null;
  readonly pane: 'output' | 'evidence' | 'log';
  /** Lines of the evidence that are above the pane. */
  readonly scroll: number;
  readonly help: boolean;
  readonly quit: boolean;
};

export const startState: WatchState = { selected: null, pane: 'output', scroll: 0, help: false, quit: false };

export const keyHelp = [
  ['q', 'quit'],
  ['?', 'this help'],
  ['↑ k / ↓ j', 'the iteration before, or after'],
  ['g / G', 'the first, or the newest, which is then followed'],
  ['o', 'what the agent wrote'],
  ['e', 'claims and the evidence for them'],
  ['Space / b', 'further down in the evidence, or up'],
  ['l', 'the log of the guardrail that failed, or ran last'],
  ['Esc', 'back to the newest iteration and its output'],
] as const;

const scrollLines = 5;
const esc = '\x1b';
const keyPattern = new RegExp(`${esc}(?:\\[[\\d;]*[A-Za-z~]|O[A-Za-z])|[^]`, 'gu');

/** Splits input into keys: a character or a whole escape sequence each. */
export function keysIn(input: string): string[] {
  return input.match(keyPattern) ?? [];
}

/** Returns the state after a key; `count` is the number of iterations. */
export function press(state: WatchState, key: string, count: number): WatchState {
  if (key === 'q' || key === '\x03') return { ...state, quit: true };
  // Any other key closes the help, and does nothing else.
  if (state.help) return { ...state, help: false };
  switch (key) {
    case '?':
    case 'h':
      return { ...state, help: true };
    case '\x1b':
      return startState;
    case 'o':
      return { ...state, pane: 'output' };
    case 'e':
      return { ...state, pane: 'evidence', scroll: 0 };
    case ' ':
    case '\x1b[6~':
      return { ...state, scroll: state.scroll + scrollLines };
    case 'b':
    case '\x1b[5~':
      return { ...state, scroll: Math.max(0, state.scroll - scrollLines) };
    case 'l':
      return { ...state, pane: 'log' };
    case 'k':
    case '\x1b[A':
    case '\x1bOA':
      return select(state, (state.selected ?? count - 1) - 1, count);
    case 'j':
    case '\x1b[B':
    case '\x1bOB':
      return select(state, (state.selected ?? count - 1) + 1, count);
    case 'g':
    case '\x1b[H':
      return select(state, 0, count);
    case 'G':
    case '\x1b[F':
      return { ...state, selected: null };
    default:
      return state;
  }
}

function select(state: WatchState, index: number, count: number): WatchState {
  const isNewest = count === 0 || index >= count - 1;
  return { ...state, scroll: 0, selected: isNewest ? null : Math.max(0, index) };
}

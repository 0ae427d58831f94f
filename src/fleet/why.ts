import { needsYou, type Why, type WhyState } from './files/loops.ts';
import { ago, stampSeconds } from './files/time.ts';

/** Text of each state, and how urgent it is: 0 waits for a person. */
const states: Readonly<Record<WhyState, { readonly text: string; readonly urgency: number }>> = {
  permission: { text: 'waits for your permission', urgency: 0 },
  answer: { text: 'waits for your answer', urgency: 0 },
  blocked: { text: 'stopped by', urgency: 0 },
  'logged-out': { text: 'logged out', urgency: 0 },
  failed: { text: 'failed', urgency: 1 },
  unfinished: { text: 'not done', urgency: 1 },
  'window-lost': { text: 'window lost', urgency: 1 },
  limit: { text: 'usage limit', urgency: 2 },
  backoff: { text: 'backoff', urgency: 2 },
  idle: { text: 'idle', urgency: 3 },
  starting: { text: 'starting', urgency: 4 },
  working: { text: 'working', urgency: 4 },
  queued: { text: 'waits for its turn', urgency: 5 },
  paused: { text: 'paused', urgency: 6 },
  done: { text: 'done', urgency: 7 },
  stopped: { text: 'stopped', urgency: 7 },
};

/** Sorts the most urgent first, then by name. */
export function byUrgency(
  a: { readonly name: string; readonly state: WhyState },
  b: { readonly name: string; readonly state: WhyState },
): number {
  return states[a.state].urgency - states[b.state].urgency || (a.name < b.name ? -1 : 1);
}

/** Returns a state in a word or two: `done`, `not done`, `waits for your answer`. */
export function stateWord(state: WhyState): string {
  return states[state].text;
}

/** Returns a state with its detail: `usage limit until 14:30`, `needs you: waits for your answer (Overwrite?)`. */
export function whyText({ state, detail, until }: Why, now: number): string {
  const text = `${needsYou(state) ? 'needs you: ' : ''}${states[state].text}`;
  if (state === 'blocked') return `${text} ${detail ?? 'a question'}`;
  const end = until === undefined ? '' : ` until ${clockText(until, now)}`;
  // A state that says it all needs no detail.
  const more = detail === undefined || detail.startsWith('the account') ? '' : ` (${detail})`;
  return `${text}${end}${more}`;
}

/** Expands a state in a timeline (`answer`, `blocked: the login`). Any other text stays as it is. */
export function stateText(text: string): string {
  const [state = '', ...detail] = text.split(': ');
  if (!isState(state)) return text;
  const why = { state, since: 0, ...(detail.length === 0 ? {} : { detail: detail.join(': ') }) };
  return whyText(why, 0);
}

function isState(word: string): word is WhyState {
  return Object.hasOwn(states, word);
}

export function nextCommand(name: string, { state }: Why): string | null {
  if (needsYou(state)) return `swarm attach ${name}`;
  if (state === 'paused') return `swarm ralph resume ${name}`;
  if (state === 'failed' || state === 'unfinished') return `swarm respawn ${name}`;
  if (state === 'limit') return 'swarm limits';
  return null;
}

/** Returns a state with its age: `working, for 3m`. */
export function whyNow(why: Why, now: number): string {
  return `${whyText(why, now)}, for ${ago(now - why.since)}`;
}

/** Formats a time as `14:30`, with the date if it is not today. */
function clockText(at: number, now: number): string {
  const [day, time = ''] = stampSeconds(at).split('T');
  const isToday = stampSeconds(now).startsWith(`${day}T`);
  return isToday ? time.slice(0, 5) : `${day} ${time.slice(0, 5)}`;
}

import type { Why, WhyState } from './files/loops.ts';
import { ago } from './files/time.ts';

/** Text of each state; `detail` and the end of a wait follow it. */
const meanings: Readonly<Record<WhyState, string>> = {
  starting: 'starting',
  working: 'working',
  permission: 'waits for your permission',
  answer: 'waits for your answer',
  limit: 'usage limit',
  'logged-out': 'logged out',
  blocked: 'stopped by',
  idle: 'idle',
  backoff: 'backoff',
  queued: 'waits for its turn',
  paused: 'paused',
  done: 'done',
  unfinished: 'not done',
  failed: 'failed',
  'window-lost': 'window lost',
  stopped: 'stopped',
};

/** Order of the states, most urgent first. */
const urgency: Readonly<Record<WhyState, number>> = {
  permission: 0,
  answer: 0,
  blocked: 0,
  'logged-out': 0,
  failed: 1,
  unfinished: 1,
  'window-lost': 1,
  limit: 2,
  backoff: 2,
  idle: 3,
  starting: 4,
  working: 4,
  queued: 5,
  paused: 6,
  done: 7,
  stopped: 7,
};

/** True if a person has to act before the loop goes on. */
export function needsYou(state: WhyState): boolean {
  return urgency[state] === 0;
}

/** Sorts the most urgent first, then by name. */
export function byUrgency(
  a: { readonly name: string; readonly state: WhyState },
  b: { readonly name: string; readonly state: WhyState },
): number {
  return urgency[a.state] - urgency[b.state] || (a.name < b.name ? -1 : 1);
}

/** Returns a state in a word or two: `done`, `not done`, `waits for your answer`. */
export function stateWord(state: WhyState): string {
  return meanings[state];
}

/** Returns a state with its detail: `usage limit until 14:30`, `waits for its turn (8 of 8 run)`. */
export function whyText({ state, detail, until }: Why, now: number): string {
  const meaning = meanings[state];
  if (state === 'blocked') return `${meaning} ${detail ?? 'a question'}`;
  const end = until === undefined ? '' : ` until ${clockText(until, now)}`;
  // A state that says it all needs no detail.
  const more = detail === undefined || detail.startsWith('the account') ? '' : ` (${detail})`;
  return `${meaning}${end}${more}`;
}

/** Expands a state in a timeline (`answer`, `blocked: the login`). Any other text stays as it is. */
export function stateText(text: string): string {
  const [state = '', ...detail] = text.split(': ');
  if (!isState(state)) return text;
  const why = { state, since: 0, ...(detail.length === 0 ? {} : { detail: detail.join(': ') }) };
  return whyText(why, 0);
}

function isState(word: string): word is WhyState {
  return Object.hasOwn(meanings, word);
}

/** Returns the next command to type; null if there is none. */
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
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const isToday = new Date(now).toDateString() === date.toDateString();
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

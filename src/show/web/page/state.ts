import { computed, effect, signal } from '@preact/signals';
import { isOpen, type RunView } from '../../../journal/run-view.ts';
import type { LoopSummary } from '../summarise.ts';
import { isLive } from '../summary.ts';
import { type Info, type Listener, openApi, Refusal } from './api.ts';

export const tabs = ['summary', 'transcript', 'changes', 'prompt'] as const;
export type Tab = (typeof tabs)[number];

/** The page that the address names. */
type Screen = 'loops' | 'loop' | 'trends' | 'compare';

export const api = openApi();
/** Version and rights of the server; null before its first answer. */
export const info = signal<Info | null>(null);
/** Why the server gives no data; null if it does. */
export const refusal = signal<Error | null>(null);
export const seenAt = signal(Date.now());
/** True if the server answers; null before its first answer. */
export const isConnected = signal<boolean | null>(null);
/** The command that starts the server again, if it was ended; null if it was not. */
export const restart = signal<string | null>(null);
export const trouble = signal<string | null>(null);
/** All loops by id; null before the first answer. */
export const loops = signal<ReadonlyMap<string, LoopSummary> | null>(null);
export const screen = signal<Screen>('loops');
export const compared = signal<readonly string[]>([]);
/** The loop whose page is open; null on any other page. */
export const openId = signal<string | null>(null);
export const summary = computed(() => loops.value?.get(openId.value ?? ''));
/** Somebody removed it. */
export const isGone = computed(() => loops.value !== null && summary.value === undefined);
export const view = signal<RunView | null>(null);
export const now = signal(Date.now());
export const told = signal('');
export const tab = signal<Tab>('summary');
/** The entry of the transcript that the address names. */
export const entry = signal<number | null>(null);
/** True if the changes of the whole run are shown, and not those of the chosen iteration. */
export const isWholeRun = signal(false);
export const openLog = signal<{ readonly index: number; readonly command: string } | null>(null);
export const hovered = signal<number | null>(null);
/** The iteration that was chosen; null follows the last one. */
const chosen = signal<number | null>(null);
const last = computed(() => (view.value?.iterations.length ?? 0) - 1);
export const selected = computed(() => Math.min(chosen.value ?? last.value, last.value));

/** The end of what is shown: now for what goes on, its last sign of life for what does not. */
export const viewEnd = computed(() => {
  const isGoing = view.value !== null && summary.value && isLive(summary.value.status) && isOpen(view.value);
  return isGoing ? now.value : (view.value?.updatedAt ?? Date.now());
});

export function select(index: number): void {
  chosen.value = index >= last.value ? null : Math.max(0, index);
}

const listener: Listener = {
  loops(update) {
    const next = new Map(update.all ? [] : loops.peek());
    for (const loop of update.loops) next.set(loop.id, loop);
    for (const gone of update.gone) next.delete(gone);
    loops.value = next;
    seenAt.value = Date.now();
    trouble.value = update.trouble;
  },
  view({ iterations, count, id: _id, ...head }) {
    const before = view.peek()?.iterations ?? [];
    const merged = before.length > count ? [] : [...before];
    for (const one of iterations) merged[one.index] = one;
    view.value = { ...head, iterations: merged };
    now.value = Date.now();
    seenAt.value = now.value;
  },
  connected(answers) {
    isConnected.value = answers;
    if (answers) restart.value = null;
  },
  ended(command) {
    restart.value = command;
  },
  refused(why) {
    refusal.value = why;
  },
};

/** Takes the page, the iteration, the tab and the entry from the address: `#/loop/ID/3/transcript/12`. */
function route(): void {
  // Any other fragment is a place on this page, such as that of the skip link.
  if (/^#[^/]/.test(location.hash)) return;
  const [page = '', id, place, name, at] = location.hash.slice(2).split('/').map(decodeURIComponent);
  screen.value = page === 'loop' || page === 'trends' || page === 'compare' ? page : 'loops';
  compared.value = page === 'compare' ? [id, place].filter((run) => run !== undefined) : [];
  chosen.value = screen.value === 'loop' && Number(place) >= 1 ? Number(place) - 1 : null;
  tab.value = tabs.find((one) => one === name) ?? 'summary';
  entry.value = at === undefined ? null : Number(at);
  const next = screen.value === 'loop' ? (id ?? null) : null;
  refusal.value = null;
  if (next !== null && next === openId.value) return;
  view.value = null;
  openLog.value = null;
  isWholeRun.value = false;
  told.value = '';
  openId.value = next;
  window.scrollTo(0, 0);
}

export function addressOf(...parts: readonly (string | number)[]): string {
  return `#/loop/${[openId.value ?? '', ...parts].map(encodeURIComponent).join('/')}`;
}

/** Keeps the address at what is shown, so that it can be copied. */
function keepAddress(): void {
  if (openId.value === null) return;
  const isPlain = chosen.value === null && tab.value === 'summary';
  const place = selected.value + 1;
  const at = tab.value === 'transcript' && entry.value !== null ? [entry.value] : [];
  const address = isPlain ? addressOf() : addressOf(place, tab.value, ...at);
  if (view.value !== null && location.hash !== address) history.replaceState(null, '', address);
}

/** Asks until the server answers. */
async function firstInfo(): Promise<Info> {
  for (;;) {
    try {
      return await api.info();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      isConnected.value = false;
      await new Promise((wake) => setTimeout(wake, 1000));
    }
  }
}

export async function start(): Promise<void> {
  try {
    info.value = await firstInfo();
  } catch (error) {
    refusal.value = error instanceof Error ? error : new Error(String(error));
    return;
  }
  if (api.only !== null && !location.hash.startsWith('#/loop/'))
    history.replaceState(null, '', `#/loop/${encodeURIComponent(api.only)}`);
  route();
  window.addEventListener('hashchange', route);
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
  effect(() => api.follow(openId.value, listener));
  effect(keepAddress);
  effect(() => {
    const { title, name = openId.value } = summary.value ?? {};
    const names = { loops: '', loop: title || name, trends: 'Trends', compare: 'Two runs' };
    document.title = [names[screen.value], 'Ralph'].filter(Boolean).join(' · ');
  });
  effect(() => showIcon(openId.value === null ? [...(loops.value?.values() ?? [])] : [summary.value]));
}

/** Shows in the tab what needs a person most: a question, then work, then how it ended. */
function showIcon(shown: readonly (LoopSummary | undefined)[]): void {
  const states = new Set(shown.map((loop) => loop?.status));
  const colours = [
    ['needs-you', '#e5484d'],
    ['running', '#3b82f6'],
    ['waiting', '#8b5cf6'],
    ['failed', '#d97706'],
    ['done', '#2f9e64'],
  ] as const;
  const colour = colours.find(([status]) => states.has(status))?.[1] ?? '#888888';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${colour}"/></svg>`;
  document
    .querySelector('link[rel=icon]')
    ?.setAttribute('href', `data:image/svg+xml,${encodeURIComponent(svg)}`);
}

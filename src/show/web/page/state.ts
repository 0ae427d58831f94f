import { computed, effect, signal } from '@preact/signals';
import { isOpen, type RunView } from '../../../journal/run-view.ts';
import { isLive, type LoopSummary } from '../summary.ts';
import { type Info, type Listener, openApi } from './api.ts';

export type Tab = 'summary' | 'changes' | 'tools' | 'prompt';

export const api = openApi();
/** Version and rights of the server; null before its first answer. */
export const info = signal<Info | null>(null);
/** Why the server gives no data; null if it does. */
export const refusal = signal<string | null>(null);
/** True if the server answers; null before its first answer. */
export const isConnected = signal<boolean | null>(null);
export const trouble = signal<string | null>(null);
/** All loops by id; null before the first answer. */
export const loops = signal<ReadonlyMap<string, LoopSummary> | null>(null);
/** The loop whose page is open; null on the page of all loops. */
export const openId = signal<string | null>(null);
export const summary = computed(() => loops.value?.get(openId.value ?? ''));
/** Somebody removed it. */
export const isGone = computed(() => loops.value !== null && summary.value === undefined);
export const view = signal<RunView | null>(null);
export const now = signal(Date.now());
/** Result of the last action. */
export const told = signal('');
export const tab = signal<Tab>('summary');
/** The check whose output is shown. */
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
    trouble.value = update.trouble;
  },
  view({ iterations, count, id: _id, ...head }) {
    const before = view.peek()?.iterations ?? [];
    const merged = before.length > count ? [] : [...before];
    for (const one of iterations) merged[one.index] = one;
    view.value = { ...head, iterations: merged };
    now.value = Date.now();
  },
  connected(answers) {
    isConnected.value = answers;
  },
};

function route(): void {
  // Any other fragment is a place on this page, such as that of the skip link.
  if (/^#[^/]/.test(location.hash)) return;
  const [, encoded] = /^#\/loop\/([^/]+)/.exec(location.hash) ?? [];
  view.value = null;
  chosen.value = null;
  openLog.value = null;
  tab.value = 'summary';
  told.value = '';
  openId.value = encoded === undefined ? null : decodeURIComponent(encoded);
  window.scrollTo(0, 0);
}

/** Follows the address and the server from now on. */
export async function start(): Promise<void> {
  try {
    info.value = await api.info();
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error);
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
  effect(() => {
    document.title = openId.value === null ? 'Ralph' : `Ralph: ${summary.value?.name ?? openId.value}`;
  });
}

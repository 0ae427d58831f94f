import type { LoopSummary } from '../summary.ts';
import { openApi } from './api.ts';
import { showHelp } from './dialogs.ts';
import { button, fill, h, oncePerFrame } from './dom.ts';
import { duration } from './format.ts';
import { createLoopPage, type LoopPage } from './loop-page.ts';
import { createOverview } from './overview.ts';
import { applyTheme, nextTheme } from './theme.ts';

const api = openApi();
const loops = new Map<string, LoopSummary>();
let info = { version: '', control: false };
let loopPage: LoopPage | null = null;
let unfollow: () => void = () => {};

const place = h('div');
const link = h('span', { class: 'link', attrs: { role: 'status' } });
const trouble = h('p', { class: 'trouble-bar', attrs: { role: 'alert' } });
const crumb = h('span', { class: 'crumb' });
const overview = createOverview((id) => {
  location.hash = `#/loop/${encodeURIComponent(id)}`;
});
const drawOverview = oncePerFrame(() => overview.show(loops));

document.body.append(
  h('a', { class: 'skip', text: 'Skip to the content', attrs: { href: '#main' } }),
  h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', text: 'ralph', attrs: { href: '#/' } }),
    crumb,
    link,
    button('Theme', nextTheme, { class: 'small-button', title: 'Light, dark, or as the system has it (t)' }),
    button('Keys', () => showHelp(info.version), { class: 'small-button', title: 'Keys (?)' }),
  ),
  trouble,
  place,
);
applyTheme();

function route(): void {
  unfollow();
  const [, encoded] = /^#\/loop\/([^/]+)/.exec(location.hash) ?? [];
  const id = encoded === undefined ? null : decodeURIComponent(encoded);
  if (id === null) {
    loopPage = null;
    fill(place, overview.element);
    fill(crumb);
    document.title = 'Ralph';
    drawOverview();
  } else {
    loopPage = createLoopPage(id, api, () => info.control);
    fill(place, loopPage.element);
    fill(
      crumb,
      h('a', { text: 'All loops', attrs: { href: '#/' } }),
      h('span', { text: ` / ${loops.get(id)?.name ?? id}` }),
    );
    document.title = `Ralph: ${loops.get(id)?.name ?? id}`;
    know(id);
  }
  window.scrollTo(0, 0);
  unfollow = api.follow(id, {
    loops(update) {
      if (update.all) loops.clear();
      for (const loop of update.loops) loops.set(loop.id, loop);
      for (const gone of update.gone) loops.delete(gone);
      trouble.textContent = update.trouble ?? '';
      if (id === null) drawOverview();
      else if (!loops.has(id)) loopPage?.leave();
      else if (update.loops.some((loop) => loop.id === id)) know(id);
    },
    view: (update) => loopPage?.update(update),
    connected(isConnected) {
      link.textContent = api.isLive ? (isConnected ? 'live' : 'not connected') : 'report';
      link.className = `link ${isConnected ? 'on' : 'off'}`;
    },
  });
}

function know(id: string): void {
  const loop = loops.get(id);
  if (loop) loopPage?.know(loop);
}

document.addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  const act: Readonly<Record<string, () => void>> = {
    '/': () => loopPage === null && overview.focusFilter(),
    j: () => (loopPage === null ? overview.move(1) : loopPage.step(1)),
    k: () => (loopPage === null ? overview.move(-1) : loopPage.step(-1)),
    ArrowLeft: () => loopPage?.step(-1),
    ArrowRight: () => loopPage?.step(1),
    Escape: () => {
      if (loopPage !== null) location.hash = '#/';
    },
    t: nextTheme,
    '?': () => showHelp(info.version),
  };
  const todo = Object.hasOwn(act, event.key) ? act[event.key] : undefined;
  if (todo === undefined || event.defaultPrevented) return;
  event.preventDefault();
  todo();
});

setInterval(() => {
  if (document.hidden) return;
  loopPage?.tick();
  const since = (at: string | undefined) => duration(Math.max(0, Date.now() - Number(at)));
  for (const element of document.querySelectorAll<HTMLElement>('[data-since]'))
    element.textContent = `last sign ${since(element.dataset.since)} ago`;
  for (const element of document.querySelectorAll<HTMLElement>('[data-from]'))
    element.textContent = since(element.dataset.from);
}, 1000);

window.addEventListener('hashchange', route);
api.info().then(
  (found) => {
    info = found;
    if (api.only !== null && !location.hash.startsWith('#/loop/')) {
      history.replaceState(null, '', `#/loop/${encodeURIComponent(api.only)}`);
    }
    route();
  },
  (error: Error) => {
    fill(
      place,
      h(
        'main',
        { class: 'refused', attrs: { id: 'main' } },
        h('h1', { text: 'Not connected' }),
        h('p', { text: error.message }),
      ),
    );
  },
);

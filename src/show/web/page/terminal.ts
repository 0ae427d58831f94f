import { readAnsi } from './ansi.ts';
import type { Api } from './api.ts';
import { fill, h } from './dom.ts';

/** The screen of a worker, looked at again and again while it is on the page. */
export function terminalView(api: Api, loop: string): HTMLElement {
  const screen = h('pre', {
    class: 'terminal',
    attrs: { tabindex: 0, 'aria-label': 'The screen of the worker' },
  });
  let shown = '';
  async function look(): Promise<void> {
    if (!screen.isConnected) return;
    if (!document.hidden) {
      const text = await api.screen(loop).catch(() => null);
      const next = text?.replace(/\s+$/, '') ?? 'There is no window at the moment.';
      if (next !== shown) {
        shown = next;
        fill(screen, ...readAnsi(next).map(({ text, classes }) => h('span', { class: classes, text })));
      }
    }
    setTimeout(look, 1000);
  }
  setTimeout(look, 0);
  return screen;
}

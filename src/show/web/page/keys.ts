import { dialog } from './dialogs.tsx';
import { screen, select, selected } from './state.ts';
import { nextTheme } from './theme.ts';

/** The keys of both pages; `dialogs.tsx` lists them for people. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.value !== null) return;
    if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
      if (key === 'Escape') target.blur();
      return;
    }
    const keys = { loops: overviewKeys, loop: loopKeys, trends: otherKeys, compare: otherKeys }[screen.value];
    const act = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (act === undefined || event.defaultPrevented) return;
    event.preventDefault();
    act();
  });
}

type Keys = Readonly<Record<string, () => void>>;

const everywhere: Keys = {
  t: nextTheme,
  '?': () => {
    dialog.value = 'keys';
  },
};

/** Pages without keys of their own go back. */
const otherKeys: Keys = {
  ...everywhere,
  Escape: () => {
    location.hash = '#/';
  },
};

const overviewKeys: Keys = {
  ...everywhere,
  '/': focusFilter,
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
};

const loopKeys: Keys = {
  ...everywhere,
  j: () => select(selected.value + 1),
  k: () => select(selected.value - 1),
  ArrowLeft: () => select(selected.value - 1),
  ArrowRight: () => select(selected.value + 1),
  Escape: () => {
    const close = [...document.querySelectorAll<HTMLElement>('[data-escape]')].at(-1);
    if (close === undefined) location.hash = '#/';
    else close.click();
  },
};

function focusFilter(): void {
  const filter = document.querySelector<HTMLInputElement>('input.filter');
  filter?.focus();
  filter?.select();
}

function moveFocus(step: number): void {
  const cards = [...document.querySelectorAll<HTMLElement>('.loop')];
  const at = cards.findIndex((card) => card.matches(':focus'));
  cards[Math.max(0, Math.min(cards.length - 1, at + step))]?.focus();
}

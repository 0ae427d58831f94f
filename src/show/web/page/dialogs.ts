import type { Action } from '../actions.ts';
import type { LoopSummary, Offer } from '../summary.ts';
import type { Api } from './api.ts';
import { button, h, note } from './dom.ts';

const titles: Readonly<Record<Offer['action'], string>> = {
  pause: 'Pause',
  resume: 'Resume',
  stop: 'Stop',
  note: 'Note',
  answer: 'Answer',
};

export function actionButtons(api: Api, loop: LoopSummary, told: (text: string) => void): HTMLElement[] {
  return loop.offers.map((offer) =>
    button(titles[offer.action], () => ask(api, loop, offer, told), { class: `action to-${offer.action}` }),
  );
}

/** Nothing is done before the person has seen what it is and said yes. */
function ask(api: Api, loop: LoopSummary, { action: kind, ask }: Offer, told: (text: string) => void): void {
  const words =
    kind === 'note' || kind === 'answer'
      ? h('textarea', { attrs: { rows: 4, required: true, 'aria-label': titles[kind] } })
      : null;
  const trouble = h('p', { class: 'trouble', attrs: { role: 'alert' } });
  const yes = h('button', { class: 'primary', text: titles[kind], attrs: { type: 'submit' } });
  const dialog = h(
    'dialog',
    { class: 'dialog', attrs: { 'aria-label': titles[kind] } },
    h(
      'form',
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            yes.disabled = true;
            const action: Action =
              kind === 'note' || kind === 'answer'
                ? { action: kind, text: words?.value ?? '' }
                : { action: kind };
            api.act(loop.id, action).then(
              (text) => {
                dialog.close();
                told(text);
              },
              (error: Error) => {
                yes.disabled = false;
                trouble.textContent = error.message;
              },
            );
          },
        },
      },
      h('p', { text: ask }),
      kind === 'answer' && h('blockquote', { text: loop.detail }),
      words,
      trouble,
      h(
        'div',
        { class: 'dialog-buttons' },
        button('Cancel', () => dialog.close()),
        yes,
      ),
    ),
  );
  open(dialog);
}

const keys: readonly (readonly [string, string])[] = [
  ['/', 'filter the loops'],
  ['j  k', 'next and previous loop'],
  ['Enter', 'open it'],
  ['Esc', 'back to all loops'],
  ['←  →', 'previous and next iteration'],
  ['t', 'light, dark, or as the system has it'],
  ['?', 'this list'],
];

export function showHelp(version: string): void {
  const dialog: HTMLDialogElement = h(
    'dialog',
    { class: 'dialog', attrs: { 'aria-label': 'Keys' } },
    h('h2', { text: 'Keys' }),
    h(
      'dl',
      { class: 'keys' },
      ...keys.flatMap(([key, what]) => [h('dt', {}, h('kbd', { text: key })), h('dd', { text: what })]),
    ),
    note(`ralphkit ${version}. Everything on this page comes from the journals of the loops.`),
    h(
      'div',
      { class: 'dialog-buttons' },
      button('Close', () => dialog.close(), { class: 'primary' }),
    ),
  );
  open(dialog);
}

function open(dialog: HTMLDialogElement): void {
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

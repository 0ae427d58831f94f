import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../actions.ts';
import type { Offer } from '../offers.ts';
import type { LoopSummary } from '../summarise.ts';
import { Facts, Note } from './parts.tsx';
import { api, info, told } from './state.ts';

type QuestionProps = { readonly loop: LoopSummary; readonly offer: Offer };

/** The dialog that is open: a question before an action, or the list of keys. */
export const dialog = signal<QuestionProps | 'keys' | null>(null);

const titles: Readonly<Record<Offer['action'], string>> = {
  pause: 'Pause',
  resume: 'Resume',
  stop: 'Stop',
  note: 'Note',
  answer: 'Answer',
};

export function ActionButtons({ loop }: { readonly loop: LoopSummary }) {
  return (
    <div class="actions">
      {loop.offers.map((offer) => (
        <button
          type="button"
          class={`action to-${offer.action}`}
          onClick={() => (dialog.value = { loop, offer })}
        >
          {titles[offer.action]}
        </button>
      ))}
    </div>
  );
}

export function OpenDialog() {
  if (dialog.value === null) return null;
  return dialog.value === 'keys' ? <Keys /> : <Question {...dialog.value} />;
}

function close(): void {
  dialog.value = null;
}

function Dialog({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} class="dialog" aria-label={label} onClose={close}>
      {children}
    </dialog>
  );
}

/** Nothing is done before the person has seen what it is and said yes. */
function Question({ loop, offer: { action: kind, ask } }: QuestionProps) {
  const [trouble, setTrouble] = useState('');
  const [isAsked, setAsked] = useState(false);
  const words = useRef<HTMLTextAreaElement>(null);
  const hasWords = kind === 'note' || kind === 'answer';
  async function act(event: Event): Promise<void> {
    event.preventDefault();
    setAsked(true);
    const action: Action = hasWords ? { action: kind, text: words.current?.value ?? '' } : { action: kind };
    try {
      told.value = (await api.act(loop.id, action)).told;
      close();
    } catch (error) {
      setAsked(false);
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <Dialog label={titles[kind]}>
      <form onSubmit={act}>
        <p>{ask}</p>
        {kind === 'answer' && <blockquote>{loop.detail}</blockquote>}
        {hasWords && <textarea ref={words} rows={4} required aria-label={titles[kind]} />}
        <p class="trouble" role="alert">
          {trouble}
        </p>
        <div class="dialog-buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isAsked}>
            {titles[kind]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const keys: readonly (readonly [string, string])[] = [
  ['/', 'filter the loops'],
  ['j  k', 'next and previous loop'],
  ['Enter', 'open it'],
  ['Esc', 'closes what is open, then goes back to all loops'],
  ['←  →', 'previous and next iteration'],
  ['t', 'light, dark, or as the system has it'],
  ['?', 'this list'],
];

function Keys() {
  return (
    <Dialog label="Keys">
      <h2>Keys</h2>
      <Facts facts={keys.map(([key, what]) => [<kbd>{key}</kbd>, what])} />
      <Note
        text={`ralphkit ${info.value?.version}. Everything on this page comes from the journals of the loops.`}
      />
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { plural } from '../../../core/text.ts';
import type { Entry, Transcript } from '../transcript.ts';
import { AnsiText } from './ansi-text.tsx';
import { duration } from './format.ts';
import type { IterationProps } from './iteration-summary.tsx';
import { Markdown } from './markdown.tsx';
import { Answer, Evidence, Note, SmallButton, signOf } from './parts.tsx';
import { addressOf, api, entry as named, selected } from './state.ts';

type ViewProps = IterationProps & { readonly of: string };

/** The iteration as it went: words, tool calls, checks and decisions in order. */
export function TranscriptView({ loop, one, of }: ViewProps) {
  return (
    <Answer
      of={of}
      ask={() => api.transcript(loop, one.index)}
      show={(transcript) => <Story {...transcript} loop={loop} index={one.index} />}
    />
  );
}

type Place = { readonly loop: string; readonly index: number };

function Story({ entries, leftOut, hasStream, ...place }: Transcript & Place) {
  const search = useSignal('');
  const isOpen = useSignal<boolean | null>(null);
  const words = search.value.toLowerCase().trim();
  const shown = entries.flatMap((item, at) =>
    words === '' || textOf(item).includes(words) ? [{ item, at }] : [],
  );
  useEffect(() => {
    if (named.value !== null) document.getElementById(`entry-${named.value}`)?.scrollIntoView();
  }, []);
  if (entries.length === 0) return <Note text="Nothing is kept of what it said and did." />;
  return (
    <div class="transcript">
      <div class="transcript-head">
        <input
          class="filter"
          type="search"
          placeholder="Search this iteration"
          aria-label="Search the transcript"
          onInput={({ currentTarget }) => (search.value = currentTarget.value)}
        />
        <span class="note" role="status">
          {words === '' ? plural(entries.length, 'entry', 'entries') : `${shown.length} of ${entries.length}`}
        </span>
        <SmallButton
          looks="push"
          text={isOpen.value ? 'Fold all calls' : 'Unfold all calls'}
          onClick={() => (isOpen.value = isOpen.value !== true)}
        />
      </div>
      {!hasStream && <Note text="The stream is not kept here: this is what the journal has." />}
      <ol class="entries">
        {shown.map(({ item, at }) => (
          <li
            key={at}
            id={`entry-${at}`}
            class={`entry entry-${item.kind} ${at === named.value ? 'named' : ''}`}
          >
            <EntryLink at={at} />
            <Content item={item} isOpen={isOpen.value ?? (words !== '' || at === named.value)} {...place} />
          </li>
        ))}
      </ol>
      {leftOut > 0 && <Note text={`${plural(leftOut, 'entry', 'entries')} more are not shown.`} />}
    </div>
  );
}

function EntryLink({ at }: { readonly at: number }) {
  return (
    <a
      class="entry-link"
      href={addressOf(selected.value + 1, 'transcript', at)}
      aria-label={`Link to entry ${at + 1}`}
    >
      {at + 1}
    </a>
  );
}

function textOf(item: Entry): string {
  if (item.kind !== 'tool') return item.text.toLowerCase();
  return `${item.name} ${item.summary} ${item.input} ${item.output ?? ''}`.toLowerCase();
}

const names = {
  text: 'Agent',
  subagent: 'Subagent',
  notice: 'Notice',
  error: 'Error',
  note: 'Note from you',
  decision: 'Decision',
} as const;

type ContentProps = Place & { readonly item: Entry; readonly isOpen: boolean };

function Content({ item, isOpen, loop, index }: ContentProps) {
  switch (item.kind) {
    case 'tool':
      return <ToolCall item={item} isOpen={isOpen} />;
    case 'text':
      return <Markdown text={item.text} />;
    case 'check':
      return (
        <Fold head={<Head ok={item.ok} name="Check" text={item.text} />} isOpen={isOpen}>
          <Answer
            of={item.log}
            ask={() => api.log(loop, index, item.log)}
            show={(log) =>
              log.kind === 'text' ? (
                <AnsiText text={log.text} />
              ) : (
                <Note text="There is no output any more." />
              )
            }
          />
        </Fold>
      );
    case 'verdict':
      return (
        <Fold
          head={<Head ok={item.ok} name={item.ok ? 'Claim accepted' : 'Claim rejected'} text={item.text} />}
          isOpen={!item.ok || isOpen}
        >
          <Evidence evidence={item.evidence} />
        </Fold>
      );
    default:
      return (
        <p class="plain-entry">
          <b>{names[item.kind]}</b> <span>{item.text}</span>
        </p>
      );
  }
}

type ToolItem = Extract<Entry, { kind: 'tool' }>;

function ToolCall({ item, isOpen }: { readonly item: ToolItem; readonly isOpen: boolean }) {
  const { name, summary, input, output, ok, ms } = item;
  return (
    <Fold head={<Head ok={ok} name={name} text={summary} time={ms} />} isOpen={isOpen}>
      {input !== '' && input !== summary && (
        <>
          <h3>Input</h3>
          <AnsiText text={input} />
        </>
      )}
      {output !== null && (
        <>
          <h3>Output</h3>
          <AnsiText text={output || '(nothing)'} />
        </>
      )}
    </Fold>
  );
}

type HeadProps = {
  readonly ok: boolean | null;
  readonly name: string;
  readonly text: string;
  readonly time?: number | null;
};

function Head({ ok, name, text, time = null }: HeadProps) {
  return (
    <>
      <span class={`state ${ok === null ? '' : ok ? 'yes' : 'no'}`}>{signOf(ok)}</span>
      <b>{name}</b>
      <code>{text}</code>
      {time !== null && <span class="note">{duration(time)}</span>}
    </>
  );
}

type FoldProps = {
  readonly head: ComponentChildren;
  readonly isOpen: boolean;
  readonly children: ComponentChildren;
};

/** Draws what is inside only while it is open: a long turn has megabytes of output. */
function Fold({ head, isOpen, children }: FoldProps) {
  const isShown = useSignal(isOpen);
  useEffect(() => {
    isShown.value = isOpen;
  }, [isOpen]);
  return (
    <details open={isShown.value} onToggle={({ currentTarget }) => (isShown.value = currentTarget.open)}>
      <summary>{head}</summary>
      {isShown.value && <div class="fold-body">{children}</div>}
    </details>
  );
}

import { useEffect, useRef } from 'preact/hooks';
import { plural } from '../../../core/text.ts';
import { markNames } from './format.ts';
import { type IterationProps, IterationSummary } from './iteration-summary.tsx';
import { MarkIcon } from './marks.tsx';
import { Answer, lazy, Verbatim } from './parts.tsx';
import { api, entry, tab, tabs } from './state.ts';

const Changes = lazy(async () => (await import('./changes.tsx')).Changes);
const TranscriptView = lazy(async () => (await import('./transcript-view.tsx')).TranscriptView);

export function IterationPanel(props: IterationProps) {
  const { iteration, mark, toolCalls } = props.one;
  const panel = useRef<HTMLElement>(null);
  // An address that names a tab leads to it.
  useEffect(() => {
    if (tab.value !== 'summary') panel.current?.scrollIntoView();
  }, []);
  const names = {
    summary: 'Summary',
    transcript: toolCalls ? `Transcript (${plural(toolCalls, 'call')})` : 'Transcript',
    changes: 'Changes',
    prompt: 'Prompt',
  };
  return (
    <section class="card panel" aria-label="The chosen iteration" ref={panel}>
      <header>
        <h2>
          <MarkIcon mark={mark} />
          {`Iteration ${iteration}: ${markNames[mark]}`}
        </h2>
        <div class="tabs" role="tablist" aria-label="About this iteration">
          {tabs.map((name) => (
            <button
              type="button"
              role="tab"
              aria-selected={tab.value === name}
              aria-controls="iteration-body"
              tabIndex={tab.value === name ? 0 : -1}
              onClick={() => openTab(name)}
              onKeyDown={moveTab}
            >
              {names[name]}
            </button>
          ))}
        </div>
      </header>
      <div class="tab-body" role="tabpanel" id="iteration-body" tabIndex={0}>
        <Body {...props} />
      </div>
    </section>
  );
}

/** The arrows go around in the tabs, and do not choose another iteration. */
function moveTab(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const index = (tabs.indexOf(tab.value) + step) % tabs.length;
  openTab(tabs[index] ?? 'summary');
  document.querySelectorAll<HTMLElement>('.tabs button')[index]?.focus();
}

function Body(props: IterationProps) {
  const { loop, one } = props;
  const of = `${loop} ${one.index} ${one.seq} ${one.mark}`;
  switch (tab.value) {
    case 'summary':
      return <IterationSummary {...props} />;
    case 'transcript':
      return <TranscriptView key={one.index} of={of} {...props} />;
    case 'changes':
      return <Changes {...props} />;
    case 'prompt':
      return (
        <Answer
          of={of}
          ask={() => api.details(loop, one.index)}
          show={({ prompt }) => <Verbatim text={prompt ?? one.promptStart} />}
        />
      );
  }
}

function openTab(name: (typeof tabs)[number]): void {
  tab.value = name;
  entry.value = null;
}

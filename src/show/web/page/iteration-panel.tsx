import type { IterationView } from '../../../journal/run-view.ts';
import type { IterationDetails } from '../details.ts';
import { DiffView } from './diff-view.tsx';
import { duration, markNames } from './format.ts';
import { type IterationProps, IterationSummary } from './iteration-summary.tsx';
import { MarkIcon } from './marks.tsx';
import { Answer, Note, Results, Verbatim } from './parts.tsx';
import { api, type Tab, tab } from './state.ts';

const tabs: readonly Tab[] = ['summary', 'changes', 'tools', 'prompt'];

/** All about the iteration that is chosen. */
export function IterationPanel(props: IterationProps) {
  const { iteration, mark, toolCalls } = props.one;
  const names = {
    summary: 'Summary',
    changes: 'Changes',
    tools: `Tools (${toolCalls ?? '?'})`,
    prompt: 'Prompt',
  };
  return (
    <section class="card panel" aria-label="The chosen iteration">
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
              onClick={() => (tab.value = name)}
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
  tab.value = tabs[index] ?? 'summary';
  document.querySelectorAll<HTMLElement>('.tabs button')[index]?.focus();
}

function Body(props: IterationProps) {
  const { loop, view, one } = props;
  const ask = () => api.details(loop, one.index);
  const key = `${tab.value} ${one.index} ${one.seq} ${one.mark}`;
  switch (tab.value) {
    case 'summary':
      return <IterationSummary {...props} />;
    case 'changes':
      return (
        <Answer key={key} ask={ask} show={(details) => <Changes {...details} one={one} view={view} />} />
      );
    case 'tools':
      return <Tools {...one} />;
    case 'prompt':
      return (
        <Answer key={key} ask={ask} show={({ prompt }) => <Verbatim text={prompt ?? one.promptStart} />} />
      );
  }
}

function Tools({ tools, toolCalls }: IterationView) {
  if (tools.length === 0) return <Note text="No tool calls." />;
  const rows = tools.map(({ name, summary, ok, ms }) => ({
    ok,
    cells: [name, <code>{summary}</code>, ms !== null && duration(ms)],
  }));
  return (
    <>
      {toolCalls !== null && toolCalls > tools.length && (
        <Note text={`The last ${tools.length} of ${toolCalls} calls.`} />
      )}
      <Results looks="tools" heads={['Tool', 'What', 'Time']} rows={rows} />
    </>
  );
}

type ChangesProps = IterationDetails & Pick<IterationProps, 'one' | 'view'>;

function Changes({ changes, one, view }: ChangesProps) {
  if (changes !== null) return <DiffView diff={changes} title="Changes" />;
  if (one.files.length === 0)
    return (
      <Note text={view.source === 'timeline' ? 'What it changed is not known.' : 'Nothing was changed.'} />
    );
  return (
    <div class="left-files">
      <Note text="Changed in this iteration; what they looked like then is not kept:" />
      <ul>
        {one.files.map((file) => (
          <li>
            <code>{file}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { plural } from '../../../core/text.ts';
import type { Diff } from '../../../os/git/git-diff.ts';
import { type DiffFile, readDiff, type TreeNode, treeOf } from './diff.ts';
import { CodeLines, SplitLines, UnifiedLines } from './diff-lines.tsx';
import { Answer, Choice, Note, SmallButton } from './parts.tsx';

type DiffViewProps = {
  readonly diff: Diff;
  readonly readFile: (path: string) => Promise<{ readonly text: string }>;
  /** The iteration at whose end a file can be opened; null if none is kept. */
  readonly iteration: number | null;
};

type Layout = 'split' | 'unified';

/** Files with so many lines in all are open at first. */
const openLines = 800;
const wide = '(min-width: 1150px)';

/** A diff with its files as a tree, each foldable, side by side where there is room. */
export function DiffView({ diff, ...props }: DiffViewProps) {
  const files = useMemo(() => readDiff(diff.text), [diff.text]);
  const layout = useSignal<Layout>(matchMedia(wide).matches ? 'split' : 'unified');
  const closed = useSignal<ReadonlySet<string>>(closedAtFirst(files));
  function setOpen(path: string, isOpen: boolean): void {
    const next = new Set(closed.value);
    if (isOpen) next.delete(path);
    else next.add(path);
    closed.value = next;
  }
  function show(path: string): void {
    setOpen(path, true);
    requestAnimationFrame(() => document.getElementById(idOf(path))?.scrollIntoView());
  }
  return (
    <div class="diff">
      <DiffHead files={files} truncated={diff.truncated} layout={layout} closed={closed} />
      <div class={files.length > 1 ? 'diff-body with-tree' : 'diff-body'}>
        {files.length > 1 && (
          <nav class="file-tree" aria-label="Changed files">
            <Tree nodes={treeOf(files)} show={show} />
          </nav>
        )}
        <div class="diff-files">
          {files.map((file) => (
            <FileView
              key={file.path}
              file={file}
              layout={layout.value}
              isOpen={!closed.value.has(file.path)}
              setOpen={(isOpen) => setOpen(file.path, isOpen)}
              {...props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

type HeadProps = Pick<Diff, 'truncated'> & {
  readonly files: readonly DiffFile[];
  readonly layout: Signal<Layout>;
  readonly closed: Signal<ReadonlySet<string>>;
};

function DiffHead({ files, truncated, layout, closed }: HeadProps) {
  const sum = (count: (file: DiffFile) => number) => files.reduce((total, file) => total + count(file), 0);
  const isAnyClosed = closed.value.size > 0;
  return (
    <div class="diff-head">
      <b>{plural(files.length, 'file')}</b>
      <Counts plus={sum(({ plus }) => plus)} minus={sum(({ minus }) => minus)} />
      {truncated && <span class="note">only the beginning is shown</span>}
      <SmallButton
        looks="push"
        text={isAnyClosed ? 'Unfold all' : 'Fold all'}
        onClick={() => (closed.value = new Set(isAnyClosed ? [] : files.map(({ path }) => path)))}
      />
      <Choice
        name="Layout"
        value={layout.value}
        options={[
          ['split', 'Side by side'],
          ['unified', 'Unified'],
        ]}
        choose={(option) => (layout.value = option)}
      />
    </div>
  );
}

function idOf(path: string): string {
  return `file-${path}`;
}

function closedAtFirst(files: readonly DiffFile[]): Set<string> {
  const closed = new Set<string>();
  let lines = 0;
  for (const file of files) {
    lines += file.lines.length;
    if (lines > openLines && file !== files[0]) closed.add(file.path);
  }
  return closed;
}

function Counts({ plus, minus }: Pick<DiffFile, 'plus' | 'minus'>) {
  return (
    <span class="counts">
      <span class="plus">{`+${plus}`}</span> <span class="minus">{`−${minus}`}</span>
    </span>
  );
}

const letters = { new: 'A', deleted: 'D', renamed: 'R', changed: 'M' } as const;

function StatusMark({ status }: Pick<DiffFile, 'status'>) {
  return (
    <span class={`file-mark ${status}`} title={status} role="img" aria-label={status}>
      {letters[status]}
    </span>
  );
}

type TreeProps = { readonly nodes: readonly TreeNode[]; readonly show: (path: string) => void };

function Tree({ nodes, show }: TreeProps) {
  return (
    <ul>
      {nodes.map(({ name, file, children }) => (
        <li>
          {file === null ? (
            <details open>
              <summary>{`${name}/`}</summary>
              <Tree nodes={children} show={show} />
            </details>
          ) : (
            <button type="button" class="tree-file" title={file.path} onClick={() => show(file.path)}>
              <StatusMark {...file} />
              <span class="tree-name">{name}</span>
              <Counts {...file} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

type FileProps = Omit<DiffViewProps, 'diff'> & {
  readonly file: DiffFile;
  readonly layout: Layout;
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
};

function FileView({ file, layout, isOpen, setOpen, readFile, iteration }: FileProps) {
  const isWhole = useSignal(false);
  const { path, from, status } = file;
  return (
    <section class="diff-file" id={idOf(path)} aria-label={path}>
      <header>
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="chevron" aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <StatusMark status={status} />
          <code>{from === null ? path : `${from} → ${path}`}</code>
        </button>
        <Counts {...file} />
        {iteration !== null && status !== 'deleted' && !file.isBinary && isOpen && (
          <SmallButton
            text={isWhole.value ? 'Back to the diff' : `Open at iteration ${iteration}`}
            aria-pressed={isWhole.value}
            data-escape={isWhole.value || undefined}
            onClick={() => (isWhole.value = !isWhole.value)}
          />
        )}
      </header>
      {isOpen && !isWhole.value && <DiffLines file={file} layout={layout} />}
      {isOpen && isWhole.value && (
        <Answer
          of={path}
          ask={() => readFile(path)}
          show={(content) => <CodeLines path={path} {...content} />}
        />
      )}
    </section>
  );
}

function DiffLines({ file, layout }: Pick<FileProps, 'file' | 'layout'>) {
  if (file.isBinary) return <Note text="A binary file." />;
  if (file.lines.length === 0)
    return <Note text={file.status === 'renamed' ? 'Renamed without a change.' : 'No lines changed.'} />;
  return layout === 'split' ? <SplitLines file={file} /> : <UnifiedLines file={file} />;
}

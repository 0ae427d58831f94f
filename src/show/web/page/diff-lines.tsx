import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { changedRanges, type DiffFile, type DiffLine, type Pair, pairLines } from './diff.ts';
import { highlight, markRange, type Token } from './highlight.ts';

type FileProps = { readonly file: DiffFile };

/** Rows beyond this are drawn when they are asked for. */
const shownRows = 1500;

export function UnifiedLines({ file }: FileProps) {
  const draw = useCode(file);
  return (
    <Rows rows={file.lines} looks="unified" label={file.path}>
      {(line) => (
        <tr class={line.kind}>
          {line.kind === 'gap' ? (
            <Gap line={line} span={3} />
          ) : (
            <>
              <td class="line-number">{line.before}</td>
              <td class="line-number">{line.after}</td>
              <td class="line-code">{draw(line)}</td>
            </>
          )}
        </tr>
      )}
    </Rows>
  );
}

export function SplitLines({ file }: FileProps) {
  const draw = useCode(file);
  const pairs = useMemo(() => pairLines(file.lines), [file]);
  return (
    <Rows<Pair> rows={pairs} looks="split" label={file.path}>
      {([left, right]) =>
        left?.kind === 'gap' ? (
          <tr class="gap">
            <Gap line={left} span={4} />
          </tr>
        ) : (
          <tr>
            <Side line={left} number={left?.before} draw={draw} />
            <Side line={right} number={right?.after} draw={draw} />
          </tr>
        )
      }
    </Rows>
  );
}

type SideProps = {
  readonly line: DiffLine | null;
  readonly number: number | null | undefined;
  readonly draw: (line: DiffLine) => ComponentChildren;
};

function Side({ line, number, draw }: SideProps) {
  const looks = line?.kind ?? 'none';
  return (
    <>
      <td class={`line-number ${looks}`}>{number}</td>
      <td class={`line-code ${looks}`}>{line && draw(line)}</td>
    </>
  );
}

function Gap({ line, span }: { readonly line: DiffLine; readonly span: number }) {
  return (
    <td colSpan={span} class="gap-text">
      {`⋯ ${line.text}`}
    </td>
  );
}

export function CodeLines({ path, text }: { readonly path: string; readonly text: string }) {
  const lines = useMemo(() => highlight(path, text.replace(/\n$/, '').split('\n')), [path, text]);
  const rows = lines.map((tokens, index) => ({ tokens, number: index + 1 }));
  return (
    <Rows rows={rows} looks="whole" label={path}>
      {({ tokens, number }) => (
        <tr>
          <td class="line-number">{number}</td>
          <td class="line-code">{tokens.map(drawToken)}</td>
        </tr>
      )}
    </Rows>
  );
}

type RowsProps<T> = {
  readonly rows: readonly T[];
  readonly looks: string;
  readonly label: string;
  readonly children: (row: T) => ComponentChildren;
};

function Rows<T>({ rows, looks, label, children }: RowsProps<T>) {
  const limit = useSignal(shownRows);
  const rest = rows.length - limit.value;
  return (
    <div class="code-box" tabIndex={0} role="group" aria-label={`Lines of ${label}`}>
      <table class={`code ${looks}`} role="presentation">
        {looks === 'split' && (
          <colgroup>
            <col class="number-column" />
            <col />
            <col class="number-column" />
            <col />
          </colgroup>
        )}
        <tbody>{rows.slice(0, limit.value).map(children)}</tbody>
      </table>
      {rest > 0 && (
        <button type="button" class="more" onClick={() => (limit.value = Number.POSITIVE_INFINITY)}>
          Show {rest} more lines
        </button>
      )}
    </div>
  );
}

/** Returns a function that draws a line with its colours and what changed within it. */
function useCode(file: DiffFile): (line: DiffLine) => ComponentChildren {
  return useMemo(() => {
    const ranges = changedRanges(file.lines);
    const code = file.lines.filter(({ kind }) => kind !== 'gap');
    const tokens = highlight(
      file.path,
      code.map(({ text }) => text),
    );
    const byLine = new Map(code.map((line, index) => [line, tokens[index] ?? []]));
    return (line) => {
      const range = ranges.get(line);
      const own = byLine.get(line) ?? [];
      return range === undefined ? own.map(drawToken) : markRange(own, range).map(drawToken);
    };
  }, [file]);
}

function drawToken({ text, kind, isMarked }: Token & { readonly isMarked?: boolean }) {
  const looks = [kind && `syntax-${kind}`, isMarked && 'changed-part'].filter(Boolean).join(' ');
  return looks === '' ? text : <span class={looks}>{text}</span>;
}

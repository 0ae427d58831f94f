import { useState } from 'preact/hooks';
import type { Diff } from '../../../os/git/git-diff.ts';
import { plural } from './format.ts';

type FileDiff = { readonly name: string; readonly lines: readonly string[] };

const shownLines = 2000;

/** A diff by file, closed where there are many. */
export function DiffView({ diff, title }: { readonly diff: Diff; readonly title: string }) {
  const files = splitDiff(diff.text);
  return (
    <div class="diff">
      <p class="diff-head">
        <b>{title}</b>
        <span>{plural(files.length, 'file')}</span>
        <Counts lines={files.flatMap(({ lines }) => lines)} />
        {diff.truncated && <span class="note">only the beginning is shown</span>}
      </p>
      {files.map((file) => (
        <FileView {...file} startsOpen={files.length <= 3} />
      ))}
    </div>
  );
}

function Counts({ lines }: Pick<FileDiff, 'lines'>) {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return (
    <>
      <span class="plus">{`+${count('+')}`}</span>
      <span class="minus">{`−${count('-')}`}</span>
    </>
  );
}

function FileView({ name, lines, startsOpen }: FileDiff & { readonly startsOpen: boolean }) {
  const [isOpen, setOpen] = useState(startsOpen);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{name}</code>
        <Counts lines={lines} />
      </summary>
      <pre tabIndex={0}>
        {isOpen &&
          lines.slice(0, shownLines).map((line) => <span class={lineKind(line)}>{`${line}\n`}</span>)}
      </pre>
    </details>
  );
}

function lineKind(line: string): string {
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'plus';
  return line.startsWith('-') ? 'minus' : 'same';
}

/** The files in a unified diff, without the lines that only repeat their names. */
function splitDiff(text: string): FileDiff[] {
  return text
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const [head = '', ...rest] = part.replace(/\n$/, '').split('\n');
      const start = rest.findIndex((line) => line.startsWith('@@') || line.startsWith('Binary files'));
      return { name: / b\/(.*)$/.exec(head)?.[1] ?? head, lines: start === -1 ? [] : rest.slice(start) };
    });
}

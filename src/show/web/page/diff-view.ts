import type { Diff } from '../../../os/git/git-diff.ts';
import { h } from './dom.ts';
import { plural } from './format.ts';

type FileDiff = {
  readonly name: string;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly string[];
};

const shownLines = 2000;

/** A diff by file, closed where there are many. */
export function diffView(diff: Diff, title: string): HTMLElement {
  const files = splitDiff(diff.text);
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return h(
    'div',
    { class: 'diff' },
    h(
      'p',
      { class: 'diff-head' },
      h('b', { text: title }),
      h('span', { text: plural(files.length, 'file') }),
      h('span', { class: 'plus', text: `+${added}` }),
      h('span', { class: 'minus', text: `−${removed}` }),
      diff.truncated && h('span', { class: 'note', text: 'only the beginning is shown' }),
    ),
    ...files.map((file) => fileView(file, files.length <= 3)),
  );
}

function fileView({ name, added, removed, lines }: FileDiff, isOpen: boolean): HTMLElement {
  const body = h('pre', { attrs: { tabindex: 0 } });
  const details = h(
    'details',
    { attrs: { open: isOpen } },
    h(
      'summary',
      {},
      h('code', { text: name }),
      h('span', { class: 'plus', text: `+${added}` }),
      h('span', { class: 'minus', text: `−${removed}` }),
    ),
    body,
  );
  const show = (): void => {
    if (!details.open || body.childElementCount > 0) return;
    body.append(
      ...lines.slice(0, shownLines).map((line) => h('span', { class: lineKind(line), text: `${line}\n` })),
    );
  };
  details.addEventListener('toggle', show);
  show();
  return details;
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
      const lines = start === -1 ? [] : rest.slice(start);
      return {
        name: / b\/(.*)$/.exec(head)?.[1] ?? head,
        added: lines.filter((line) => line.startsWith('+')).length,
        removed: lines.filter((line) => line.startsWith('-')).length,
        lines,
      };
    });
}

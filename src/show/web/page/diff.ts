/** A line of a diff, with its numbers before and after; a `gap` stands for lines that are not shown. */
export type DiffLine = {
  readonly kind: 'same' | 'plus' | 'minus' | 'gap';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
};

export type DiffFile = {
  readonly path: string;
  /** The name that it had; null if it had the same or none. */
  readonly from: string | null;
  readonly status: 'new' | 'deleted' | 'renamed' | 'changed';
  readonly isBinary: boolean;
  readonly lines: readonly DiffLine[];
  readonly plus: number;
  readonly minus: number;
};

/** Reads the files of a unified diff as git prints it. */
export function readDiff(text: string): DiffFile[] {
  return text
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => readFile(part.replace(/\n$/, '').split('\n')));
}

function readFile([first = '', ...rest]: readonly string[]): DiffFile {
  const start = rest.findIndex((line) => line.startsWith('@@'));
  const head = start === -1 ? rest : rest.slice(0, start);
  const field = (name: string) => head.find((line) => line.startsWith(name))?.slice(name.length);
  const after = nameIn(field('+++ '));
  const before = nameIn(field('--- '));
  const renamedTo = field('rename to ');
  const all = start === -1 ? [] : readLines(rest.slice(start));
  // At the beginning of a file nothing is left out.
  const lines = all[1]?.before === 1 || all[1]?.after === 1 ? all.slice(1) : all;
  const isNew = field('new file mode') !== undefined;
  const isDeleted = field('deleted file mode') !== undefined;
  return {
    path: plain(renamedTo) ?? after ?? before ?? / b\/(.*)$/.exec(first)?.[1] ?? first,
    from: plain(field('rename from ')) ?? null,
    status: isNew ? 'new' : isDeleted ? 'deleted' : renamedTo === undefined ? 'changed' : 'renamed',
    isBinary: field('Binary files') !== undefined,
    lines,
    plus: lines.filter(({ kind }) => kind === 'plus').length,
    minus: lines.filter(({ kind }) => kind === 'minus').length,
  };
}

/** Takes the quotes from a name that git has quoted. */
function plain(name: string | undefined): string | undefined {
  return name?.replace(/^"(.*)"$/, '$1');
}

function nameIn(line: string | undefined): string | undefined {
  const name = plain(line?.replace(/\t$/, ''));
  return name === undefined || name === '/dev/null' ? undefined : name.replace(/^[ab]\//, '');
}

function readLines(lines: readonly string[]): DiffLine[] {
  let before = 0;
  let after = 0;
  return lines.flatMap((line): DiffLine[] => {
    const [, from, to, text = ''] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      [before, after] = [Number(from), Number(to)];
      return [{ kind: 'gap', text, before: null, after: null }];
    }
    const rest = line.slice(1);
    if (line.startsWith('+')) return [{ kind: 'plus', text: rest, before: null, after: after++ }];
    if (line.startsWith('-')) return [{ kind: 'minus', text: rest, before: before++, after: null }];
    if (line.startsWith('\\')) return [];
    return [{ kind: 'same', text: rest, before: before++, after: after++ }];
  });
}

export type Pair = readonly [left: DiffLine | null, right: DiffLine | null];

/** Puts removed lines beside those that were added in their place. */
export function pairLines(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < lines.length; ) {
    const minus = blockAt(lines, at, 'minus');
    const plus = blockAt(lines, at + minus.length, 'plus');
    const size = Math.max(minus.length, plus.length);
    for (let row = 0; row < size; row++) pairs.push([minus[row] ?? null, plus[row] ?? null]);
    at += minus.length + plus.length;
    const line = lines[at];
    if (size > 0 || line === undefined) continue;
    pairs.push([line, line]);
    at++;
  }
  return pairs;
}

function blockAt(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

export type Range = readonly [from: number, to: number];

/** Finds what differs within each changed line. Lines that have little in common are left without. */
export function changedRanges(lines: readonly DiffLine[]): Map<DiffLine, Range> {
  const ranges = new Map<DiffLine, Range>();
  for (const [left, right] of pairLines(lines)) {
    if (left === null || right === null || left === right) continue;
    const [a, b] = [left.text, right.text];
    const shorter = Math.min(a.length, b.length);
    let start = 0;
    while (start < shorter && a[start] === b[start]) start++;
    let end = 0;
    while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
    if ((start + end) * 2 < shorter) continue;
    ranges.set(left, [start, a.length - end]);
    ranges.set(right, [start, b.length - end]);
  }
  return ranges;
}

/** A folder or a file of the tree; a folder that holds one folder only is joined with it. */
export type TreeNode = {
  readonly name: string;
  readonly file: DiffFile | null;
  readonly children: TreeNode[];
};

export function treeOf(files: readonly DiffFile[]): TreeNode[] {
  const root: TreeNode = { name: '', file: null, children: [] };
  for (const file of files) {
    let node = root;
    const parts = file.path.split('/');
    for (const name of parts.slice(0, -1)) {
      const before = node.children.find((child) => child.file === null && child.name === name);
      const next = before ?? { name, file: null, children: [] };
      if (before === undefined) node.children.push(next);
      node = next;
    }
    node.children.push({ name: parts.at(-1) ?? file.path, file, children: [] });
  }
  return root.children.map(joined);
}

function joined(node: TreeNode): TreeNode {
  const [only] = node.children;
  if (node.file === null && node.children.length === 1 && only?.file === null)
    return joined({ ...only, name: `${node.name}/${only.name}` });
  return { ...node, children: node.children.map(joined) };
}

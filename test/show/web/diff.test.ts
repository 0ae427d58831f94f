import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedRanges, pairLines, readDiff, treeOf } from '../../../src/show/web/page/diff.ts';
import { highlight, markRange } from '../../../src/show/web/page/highlight.ts';

const text = `diff --git a/src/a b.ts b/src/a b.ts
index 1..2 100644
--- a/src/a b.ts\t
+++ b/src/a b.ts\t
@@ -10,3 +10,4 @@ function near() {
 same
-old(1)
+old(2)
+new
\\ No newline at end of file
diff --git a/x/y/gone.ts b/x/y/gone.ts
deleted file mode 100644
--- a/x/y/gone.ts
+++ /dev/null
@@ -1 +0,0 @@
--- not a head
diff --git a/one.png b/two.png
similarity index 100%
rename from one.png
rename to two.png
diff --git a/raw.bin b/raw.bin
new file mode 100644
Binary files /dev/null and b/raw.bin differ
`;

describe('readDiff', () => {
  it('reads names, states and counts of all files', () => {
    expect(
      readDiff(text).map(({ path, from, status, isBinary, plus, minus }) => [
        path,
        from,
        status,
        isBinary,
        plus,
        minus,
      ]),
    ).toEqual([
      ['src/a b.ts', null, 'changed', false, 2, 1],
      ['x/y/gone.ts', null, 'deleted', false, 0, 1],
      ['two.png', 'one.png', 'renamed', false, 0, 0],
      ['raw.bin', null, 'new', true, 0, 0],
    ]);
  });

  it('numbers the lines of both sides, and puts what replaces a line beside it', () => {
    const [file] = readDiff(text);
    const pairs = pairLines(file?.lines ?? []).map(([left, right]) => [
      left && [left.before, left.text],
      right && [right.after, right.text],
    ]);
    expect(pairs.slice(1)).toEqual([
      [
        [10, 'same'],
        [10, 'same'],
      ],
      [
        [11, 'old(1)'],
        [11, 'old(2)'],
      ],
      [null, [12, 'new']],
    ]);
    expect([...changedRanges(file?.lines ?? []).values()]).toEqual([
      [4, 5],
      [4, 5],
    ]);
  });

  it('joins folders that hold one folder only', () => {
    const [, gone] = treeOf(readDiff(text));
    expect(gone).toMatchObject({ name: 'x/y', children: [{ name: 'gone.ts' }] });
  });
});

describe('the colours of code', () => {
  const paths = fc.constantFrom('a.ts', 'b.py', 'c.sql', 'd.html', 'e.unknown', 'Dockerfile');
  const lines = fc.array(
    fc.string({
      unit: fc.constantFrom('/', '*', '"', "'", '`', '#', '-', '<', '!', '\\', 'if', '1', ' ', 'ä'),
    }),
  );

  it('lose and add no character, whatever the line and wherever a range is cut', () => {
    fc.assert(
      fc.property(paths, lines, fc.nat(30), fc.nat(30), (path, all, from, to) => {
        const tokens = highlight(path, all);
        expect(tokens.map((line) => line.map((token) => token.text).join(''))).toEqual(all);
        const marked = tokens.map((line) => markRange(line, [Math.min(from, to), Math.max(from, to)]));
        expect(marked.map((line) => line.map((token) => token.text).join(''))).toEqual(all);
      }),
    );
  });

  it('know words, strings, numbers and comments that span lines', () => {
    const kinds = highlight('a.ts', ['const a = "x"; /* one', 'two */ return 1;']).map((line) =>
      line.filter(({ kind }) => kind !== '').map(({ kind, text: piece }) => `${kind}: ${piece}`),
    );
    expect(kinds).toEqual([
      ['word: const', 'string: "x"', 'comment: /* one'],
      ['comment: two */', 'word: return', 'number: 1'],
    ]);
  });
});

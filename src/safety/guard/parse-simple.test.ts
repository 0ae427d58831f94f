import fc from 'fast-check';
import { parse } from 'unbash';
import { describe, expect, it } from 'vitest';
import { readCorpus } from '../../../test/guard/corpus.ts';
import { isObject } from '../../core/json.ts';
import { parseSimple } from './parse-simple.ts';

/** The tree with what the parser works out only when asked. */
function whole(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(whole);
  if (!isObject(node)) return node;
  const names = new Set([
    ...Object.keys(node),
    ...['args', 'redirects', 'value', 'parts', 'name', 'append', 'index'],
  ]);
  return Object.fromEntries([...names].map((name) => [name, whole(node[name])]));
}

/** Whether the command is simple; then its tree has to be that of the parser. */
function agrees(command: string): boolean {
  const simple = parseSimple(command);
  if (simple === null) return false;
  expect(whole(simple), command).toEqual(whole(parse(command)));
  return true;
}

const simpleOnes = [
  'npm test && rm -rf dist',
  'git add -A; git commit -m "feat: a thing" -m \'it is $HOME\'',
  'ls -la src | grep "a b" | wc -l > out.txt 2>&1',
  'cat < in.txt >> out.txt || echo no 1>&2',
  'npx vitest run src/a.test.ts --reporter=dot 2>/dev/null\npwd\n\n',
  '  "/usr/bin/rm" x  ',
  'printf \'\' "" \'two\nlines\' "two\nlines"',
  'echo 2 >x; echo 2>x',
  'cat ~/x ~ a~b',
  'A=1 B= C="two words" make CC=gcc',
  'A=~/x; ls && B=a=b',
  'dd if=a of=b',
  '',
];

const others = [
  'echo $HOME',
  'echo `id`',
  'echo a\\ b',
  'rm *',
  'export A=1',
  'A=1 export B=2',
  'A=(1 2)',
  'A+=1 ls',
  'a[1]=2',
  'A=$B',
  'A=1 > out',
  'a & b',
  'a |& b',
  'a &> b',
  'a >| b',
  'cat <<X\nX',
  'cat <<< x',
  'if true; then ls; fi',
  'time ls',
  '! ls',
  '(ls)',
  '{ ls; }',
  'f() ls',
  '> out',
  'ls # all',
  'echo a"b"',
  "echo 'a",
  'ls;;',
  '; ls',
  'ls &&',
  'ls |\nwc',
  'ls "a!b"',
  '[[ a ]]',
  'ls {a,b}',
];

describe('a simple command', () => {
  it.each(simpleOnes)('is read without the parser, and as the parser reads it: %j', (command) => {
    expect(agrees(command)).toBe(true);
  });

  it.each(others)('is none where a shell has more to do than to part words: %j', (command) => {
    expect(parseSimple(command)).toBeNull();
  });

  it('is read as the parser reads it, all of those that were gathered', () => {
    const gathered = (['harmful', 'harmless', 'quoted'] as const).flatMap(readCorpus);
    const simple = gathered.filter(({ command }) => agrees(command)).length;
    expect(simple).toBeGreaterThan(gathered.length / 4);
  });

  it('is read as the parser reads it, whatever it is made of', () => {
    const pieces = [
      ...[
        'ls',
        'rm',
        '-rf',
        '--to=x',
        'a=b',
        'A=',
        '~',
        '~/x',
        'export',
        'src/a.ts',
        '2',
        '12',
        '"a b"',
        '""',
        "'$x'",
        '"$x"',
        'time',
        'in',
      ],
      ...[
        ' ',
        ' ',
        ' ',
        '  ',
        '\t',
        '\n',
        ';',
        '&&',
        '||',
        '|',
        '&',
        '>',
        '>>',
        '2>',
        '<',
        '>&1',
        '2>&1',
        '<<',
        '!',
      ],
      ...[
        '(',
        ')',
        '{',
        '}',
        '#',
        '\\',
        '~',
        '*',
        '$',
        '`',
        '"',
        "'",
        '[',
        ']',
        '-',
        '%',
        '@',
        ':',
        ',',
        '+',
        '=',
      ],
    ];
    const command = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
    let simple = 0;
    fc.assert(
      fc.property(command, (text) => {
        if (agrees(text)) simple++;
      }),
      { numRuns: 20_000 },
    );
    expect(simple).toBeGreaterThan(100);
  });
});

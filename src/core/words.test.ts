import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteWord, splitWords } from './words.ts';

describe('splitWords', () => {
  it.each([
    ['--model opus', ['--model', 'opus']],
    ['  a\tb\nc  ', ['a', 'b', 'c']],
    ['', []],
    [`--append "two words"`, ['--append', 'two words']],
    [`a'b "c'd`, ['ab "cd']],
    [`''`, ['']],
    [String.raw`one\ word \"x`, ['one word', '"x']],
    [String.raw`"a\"b\\c\d$e"`, ['a"b\\c\\d$e']],
    [String.raw`'a\b'`, ['a\\b']],
    ['--dir=$HOME/*', ['--dir=$HOME/*']],
  ])('splits %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it.each([`"open`, `it's`, 'back\\'])('has no answer for %j, which is not closed', (text) => {
    expect(splitWords(text)).toBeNull();
  });

  it('gives back any words that were quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) => {
        const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
        expect(splitWords(quoted)).toEqual(words);
      }),
    );
  });
});

describe('quoteWord', () => {
  it.each(['', 'plain', 'two words', "it's", "''", '$HOME `x` "y" \\', 'a\nb'])(
    'keeps %j one word',
    (word) => {
      expect(splitWords(`${quoteWord(word)} ${quoteWord(word)}`)).toEqual([word, word]);
    },
  );
});

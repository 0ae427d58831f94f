import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanTerminal, createTerminalCleaner } from './clean-terminal.ts';

const hostilePieces = [
  '\x1b',
  '\x1b[31m',
  '\x1b[?1049h',
  '\x1b]0;title\x07',
  '\x1b]8;;http://evil\x1b\\',
  '\x1b]52;c;aGk=',
  '\x1bP+q\x1b\\',
  '\x1b_app',
  '\x1b(0',
  '\x1bc',
  '\x9b2J',
  '\x9d0;t\x9c',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\b',
  '\x7f',
  '\x18',
  '\u202e',
  '\u2066',
  '\u{e0041}',
  '\udb40',
  '\udc41',
  '\ud83d',
  '\ude00',
  '👩‍👩‍👧',
  'é',
  'text',
  '[',
  ']',
  '\\',
  ';',
  'm',
] as const;

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...hostilePieces), fc.string({ unit: 'binary', maxLength: 5 })), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''));

const forbidden = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

function cleanInPieces(text: string, cuts: readonly number[]): string {
  const cleaner = createTerminalCleaner();
  const borders = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  const parts = borders.slice(1).map((end, index) => cleaner.push(text.slice(borders[index], end)));
  return parts.join('') + cleaner.end();
}

describe('cleanTerminal', () => {
  it.each([
    ['colours and cursor moves', '\x1b[1;31mred\x1b[0m\x1b[2J\x1b[H', 'red'],
    ['a window title that ends with BEL', 'a\x1b]0;owned\x07b', 'ab'],
    ['a window title that ends with ST', 'a\x1b]0;owned\x1b\\b', 'ab'],
    ['a hyperlink, keeping its text', '\x1b]8;;https://evil.example\x07click\x1b]8;;\x07', 'click'],
    ['a write to the clipboard', 'x\x1b]52;c;cm0gLXJmIC8=\x07y', 'xy'],
    ['DCS, APC, PM and SOS strings', 'a\x1bPq#0\x1b\\b\x1b_G\x1b\\c\x1b^p\x1b\\d\x1bXs\x1b\\e', 'abcde'],
    ['a sequence hidden in a tmux passthrough', 'a\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\b', 'ab'],
    ['single escapes and charset switches', '\x1bca\x1b(0b\x1b#8c\x1b7d', 'abcd'],
    ['C1 controls as sequences', 'a\x9b31mb\x9d0;t\x9cc\x90q\x9cd\x85e', 'abcde'],
    ['NUL, BEL, backspace, vertical moves and DEL', 'a\0\x07\b\x0b\x0c\x0e\x7fb', 'ab'],
    ['bidi overrides and isolates', 'a\u202eb\u2066c\u2069d\u202c', 'abcd'],
    ['tag characters', `hi${'\u{e0001}\u{e0069}\u{e007f}'}!`, 'hi!'],
  ])('removes %s', (_what, text, expected) => {
    expect(cleanTerminal(text)).toBe(expected);
  });

  it('turns a lone carriage return into a newline and CRLF into one newline', () => {
    expect(cleanTerminal('10%\r20%\r\ndone\r')).toBe('10%\n20%\ndone\n');
  });

  it('keeps emoji with joiners, combining marks, tabs and variation selectors', () => {
    const text = '👩‍💻 é\tक्षि ✅️ 葛\u{e0100} \u200d\u200b';
    expect(cleanTerminal(text)).toBe(text);
  });

  it('gives up an unterminated OSC at the next newline', () => {
    expect(cleanTerminal('a\x1b]0;never ends\nnext line')).toBe('a\nnext line');
  });

  it.each([
    ['OSC', '\x1b]'],
    ['DCS', '\x1bP'],
    ['CSI', '\x1b['],
  ])('shows the text again after 4 KB of an unterminated %s', (_name, opener) => {
    expect(cleanTerminal(`${opener}${'1'.repeat(5000)}end`)).toMatch(/^1{0,1000}end$/);
  });

  it('leaves text alone that is broken off by a letter no sequence may hold', () => {
    expect(cleanTerminal('\x1b[3é and \x1b\nnew line')).toBe('é and \nnew line');
  });
});

describe('createTerminalCleaner', () => {
  it('gives the same text however the stream is cut', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
        expect(cleanInPieces(text, cuts)).toBe(cleanTerminal(text));
      }),
      { numRuns: 10_000 },
    );
  });

  it('counts the bound of a sequence over chunks', () => {
    const text = `\x1bP${'😀'.repeat(4200)}end`;
    expect(cleanInPieces(text, [3, 100, 4097, 4098, 8193, 8194])).toBe(cleanTerminal(text));
  });

  it('never gives out a control, and cleaning twice changes nothing', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const cleaned = cleanTerminal(text);
        expect(cleaned).not.toMatch(forbidden);
        expect(cleanTerminal(cleaned)).toBe(cleaned);
      }),
      { numRuns: 10_000 },
    );
  });

  it('keeps printable text byte for byte', () => {
    const printable = fc.string({ unit: 'grapheme' }).filter((text) => !forbidden.test(text));
    fc.assert(
      fc.property(printable, (text) => {
        expect(cleanTerminal(text)).toBe(text);
      }),
    );
  });

  it('never cuts a surrogate pair in two', () => {
    const cleaner = createTerminalCleaner();
    expect([cleaner.push('a\ud83d'), cleaner.push('\ude00b'), cleaner.end()]).toEqual(['a', '😀b', '']);
  });

  it('gives out at the end what it held back', () => {
    const cleaner = createTerminalCleaner();
    expect([cleaner.push('bar\r'), cleaner.end(), cleaner.push('again')]).toEqual(['bar', '\n', 'again']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnsi } from '../../../src/show/web/page/ansi.ts';

const esc = '\u001b';

describe('the screen of a worker as pieces', () => {
  it('keeps colours and looks, and ends them where they end', () => {
    expect(readAnsi(`a${esc}[1;32mb${esc}[22mc${esc}[0md`)).toEqual([
      { text: 'a', classes: '' },
      { text: 'b', classes: 'bold f2' },
      { text: 'c', classes: 'f2' },
      { text: 'd', classes: '' },
    ]);
  });

  it('takes the nearest of sixteen colours for the others', () => {
    const classes = readAnsi(`${esc}[38;5;196mx${esc}[38;2;0;200;0mx${esc}[48;5;21mx`).map(
      (one) => one.classes,
    );
    expect(classes).toEqual(['f9', 'f2', 'f2 b12']);
  });

  it('lets no control character through, whatever comes', () => {
    const word = fc.constantFrom(
      'x',
      `${esc}[`,
      `${esc}]0;t`,
      '\u0007',
      '31m',
      ';',
      '?25h',
      '\r',
      '\u0000',
      `${esc}\\`,
      '999m',
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const shown = readAnsi(words.join(''))
          .map(({ text }) => text)
          .join('');
        expect([...shown].filter((char) => char < ' ' && char !== '\n' && char !== '\t')).toEqual([]);
      }),
    );
  });
});

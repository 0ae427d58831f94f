import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, type Pattern } from '../../core/pattern.ts';
import { doneLook } from './done.ts';

const pattern = compilePattern('All tasks complete');
const prompt = [
  'study specs/README.md and pick the most important task',
  '',
  '- run the tests after changes',
  '> when nothing is left, print "All tasks complete" and stop',
].join('\n');

function checkDone(pattern: Pattern, lines: readonly string[], prompt: string, echoed?: boolean) {
  return doneLook(pattern, prompt)(lines, echoed);
}

describe('the done pattern on a screen', () => {
  it('matches what the agent printed', () => {
    expect(checkDone(pattern, ['working', 'All tasks complete.', '$'], prompt).done).toBe(true);
    expect(checkDone(pattern, ['working', '$'], prompt).done).toBe(false);
  });

  it('does not match the prompt as it was typed', () => {
    expect(checkDone(pattern, ['$ agent', ...prompt.split('\n'), 'reading'], prompt).done).toBe(false);
  });

  it.each([20, 33, 52, 77, 100])('does not match the prompt in a frame of %i columns', (width) => {
    for (const [left, right] of [
      ['❯ ', ''],
      ['│ ', ' │'],
      ['  ┃  ', ''],
    ] as const) {
      const framed = wrap(prompt, width).map((line) => `${left}${line.padEnd(width)}${right}`);
      expect(checkDone(pattern, ['Welcome', ...framed, '● Reading'], prompt).done).toBe(false);
      expect(checkDone(pattern, [...framed, '● All tasks complete'], prompt).done).toBe(true);
    }
  });

  it('does not match a prompt whose end is folded away', () => {
    const shown = ['❯ study specs/README.md and pick the most important task', '  … +3 lines'];
    expect(checkDone(pattern, shown, prompt)).toEqual({ done: false, echoed: true });
  });

  it('knows the end of a prompt on top of the screen, once the prompt was to be seen', () => {
    const lines = wrap(prompt, 40).map((line) => `  ${line}`);
    let echoed = false;
    for (let gone = 0; gone <= lines.length; gone++) {
      const check = checkDone(pattern, [...lines.slice(gone), '● Reading'], prompt, echoed);
      expect(check).toEqual({ done: false, echoed: true });
      echoed = check.echoed;
    }
    expect(checkDone(pattern, ['● Reading', '● All tasks complete'], prompt, echoed).done).toBe(true);
  });

  it('takes the first line of an agent that shows no prompt for its own', () => {
    expect(checkDone(pattern, ['All tasks complete and stop'], prompt).done).toBe(true);
  });

  it('sees a pattern that a narrow window has wrapped', () => {
    const lines = [
      '● The plan is worked off now. All tasks',
      '  complete.',
      '',
      '──────────────────────────────────────',
    ];
    expect(checkDone(pattern, lines, 'go').done).toBe(true);
    expect(checkDone(pattern, ['All tasks', 'complete', '─────────────────────────'], 'go').done).toBe(false);
  });

  it('does not lose letters to a prompt of one word', () => {
    expect(checkDone(compilePattern('ALL GOOD'), ['❯ GO', 'ALL GOOD'], 'GO').done).toBe(true);
    expect(checkDone(compilePattern('GO'), ['❯ GO', 'thinking'], 'GO').done).toBe(false);
  });

  it('has no trouble with an empty prompt or an empty screen', () => {
    expect(checkDone(pattern, ['All tasks complete'], '').done).toBe(true);
    expect(checkDone(pattern, [], prompt).done).toBe(false);
  });

  it('never matches what is only in the prompt, however it is wrapped and framed', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'é', '日', '😀', '𝒳', ' ', '\n', '>', '│', '*', '0', '"'),
    });
    fc.assert(
      fc.property(text, text, fc.integer({ min: 8, max: 60 }), (before, after, width) => {
        const asked = `Please do the following work ${before}\nprint ZEBRA 42 ${after}`;
        const lines = wrap(asked, width).map((line) => `│ ${line} │`);
        expect(checkDone(compilePattern('ZEBRA 42'), ['top', ...lines, 'bottom'], asked).done).toBe(false);
      }),
    );
  });
});

/** Breaks at words as a terminal program does, and inside of those that are too long. */
function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ')) {
      const next = line === '' ? word : `${line} ${word}`;
      if ([...next].length <= width) {
        line = next;
        continue;
      }
      if (line !== '') lines.push(line);
      const letters = [...word];
      while (letters.length > width) lines.push(letters.splice(0, width).join(''));
      line = letters.join('');
    }
    return [...lines, line];
  });
}

import { describe, expect, it } from 'vitest';
import { createScreen } from './screen.ts';

function recorded() {
  const written: string[] = [];
  const screen = createScreen({ write: (text) => void written.push(text) });
  return { written, screen };
}

describe('the screen', () => {
  it('writes all lines once, then only those that changed, in one piece', () => {
    const { written, screen } = recorded();
    screen.enter();
    screen.draw(['one', 'two', 'three']);
    screen.draw(['one', '2', 'three']);
    screen.draw(['one', '2', 'three']);
    expect(written).toHaveLength(3);
    expect(written[1]).toContain('three');
    expect(written[2]).toBe('\x1b[?2026h\x1b[2;1H\x1b[K2\x1b[0m\x1b[?2026l');
  });

  it('starts from nothing after it was told to forget', () => {
    const { written, screen } = recorded();
    screen.enter();
    screen.draw(['one']);
    screen.forget();
    screen.draw(['one']);
    expect(written[2]).toBe(written[1]);
  });

  it('gives the terminal back once, however often it is asked, and draws nothing after that', () => {
    const { written, screen } = recorded();
    screen.leave();
    screen.enter();
    screen.leave();
    screen.leave();
    screen.draw(['late']);
    expect(written.map((text) => text.includes('1049h') || text.includes('1049l'))).toEqual([true, true]);
    for (const mode of ['1049', '7', '25']) {
      const [on, off] = mode === '1049' ? ['h', 'l'] : ['l', 'h'];
      expect(written[0]).toContain(`\x1b[?${mode}${on}`);
      expect(written[1]).toContain(`\x1b[?${mode}${off}`);
    }
  });
});

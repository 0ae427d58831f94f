import { describe, expect, it } from 'vitest';
import { keysIn, press, startState, type WatchState } from './keys.ts';

const having = (keys: string, from: WatchState = startState, count = 5) =>
  keysIn(keys).reduce((state, key) => press(state, key, count), from);

describe('keys', () => {
  it('come one by one, an escape sequence as a whole', () => {
    expect(keysIn('j\x1b[A\x1bOBq😀\x1b')).toEqual(['j', '\x1b[A', '\x1bOB', 'q', '😀', '\x1b']);
    expect(keysIn('')).toEqual([]);
  });

  it('move among the iterations, and follow again at the newest', () => {
    expect(having('k').selected).toBe(3);
    expect(having('\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A').selected).toBe(0);
    expect(having('kkj').selected).toBe(3);
    expect(having('kj').selected).toBeNull();
    expect(having('gG').selected).toBeNull();
    expect(having('k', startState, 0).selected).toBeNull();
  });

  it('choose what the large pane shows, and Esc goes back', () => {
    expect(having('e').pane).toBe('evidence');
    expect(having('l').pane).toBe('log');
    expect(having('lko').pane).toBe('output');
    expect(having('lk\x1b')).toEqual(startState);
  });

  it('close the help without doing anything else, but q quits from anywhere', () => {
    expect(having('?').help).toBe(true);
    expect(having('?k')).toEqual(startState);
    expect(having('?q').quit).toBe(true);
    expect(having('\x03').quit).toBe(true);
  });
});

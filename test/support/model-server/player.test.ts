import { describe, expect, it } from 'vitest';
import { createPlayer } from './player.ts';
import type { ModelAnswer } from './script.ts';

function play(answers: readonly ModelAnswer[], start = 1_000_000) {
  const clock = { now: start };
  const serve = createPlayer({ answers }, () => clock.now);
  return { clock, serve, indexes: (count: number) => Array.from({ length: count }, () => serve().index) };
}

const text = { blocks: [{ text: 'x' }] };

describe('the answers of a script', () => {
  it('come in order, and the last one for ever', () => {
    expect(play([text, text]).indexes(4)).toEqual([0, 1, 1, 1]);
  });

  it('are repeated as often as they say', () => {
    expect(play([{ ...text, repeat: 3 }, { error: { status: 500 }, repeat: 2 }, text]).indexes(7)).toEqual([
      0, 0, 0, 1, 1, 2, 2,
    ]);
  });

  it('refuse everything during a limit, which ends on a whole second', () => {
    const { clock, serve, indexes } = play([text, { limit: { seconds: 3 } }, text], 1_000_200);
    expect(indexes(1)).toEqual([0]);
    expect(serve()).toEqual({ index: 1, limitedUntil: 1_004_000 });
    clock.now = 1_003_999;
    expect(serve()).toEqual({ index: 1, limitedUntil: 1_004_000 });
    clock.now = 1_004_000;
    expect(serve()).toMatchObject({ index: 2 });
  });

  it('begin a limit anew where it is the last', () => {
    const { clock, serve } = play([{ limit: { seconds: 1 } }]);
    expect(serve()).toMatchObject({ limitedUntil: 1_001_000 });
    clock.now = 1_001_000;
    expect(serve()).toMatchObject({ limitedUntil: 1_002_000 });
  });
});

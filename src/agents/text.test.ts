import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextCollector } from './text.ts';

const filler = (length: number) => 'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length);

describe('the text collector', () => {
  it('keeps blocks apart and joins deltas to their block', () => {
    const text = createTextCollector();
    text.add('one');
    text.add('two <pro');
    text.add('mise>DONE</promise>', true);
    expect(text.blocks()).toEqual(['one', 'two <promise>DONE</promise>']);
  });

  it('starts a block with a delta where there is none', () => {
    const text = createTextCollector();
    text.add('a', true);
    text.add('b', true);
    expect(text.blocks()).toEqual(['ab']);
  });

  it('starts a new block with an empty text, and leaves empty blocks out', () => {
    const text = createTextCollector();
    text.add('one');
    text.add('');
    text.add('');
    text.add('two', true);
    text.add('');
    expect(text.blocks()).toEqual(['one', 'two']);
  });

  it('takes back the last blocks, with their deltas', () => {
    const text = createTextCollector();
    text.add('one');
    text.add('two');
    text.add(' and', true);
    text.retract(1);
    expect(text.blocks()).toEqual(['one']);
    text.retract(0);
    text.add('three');
    expect(text.blocks()).toEqual(['one', 'three']);
    text.retract(9);
    expect(text.blocks()).toEqual([]);
  });

  it('gives the same blocks when asked twice, and goes on afterwards', () => {
    const text = createTextCollector();
    text.add('a', true);
    expect(text.blocks()).toEqual(['a']);
    text.add('b', true);
    expect(text.blocks()).toEqual(['ab']);
  });

  it('joins deltas whatever their number and size', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 2000 }), (parts, times) => {
        const text = createTextCollector();
        const deltas = Array.from({ length: times }, (_, i) => parts[i % Math.max(1, parts.length)] ?? '');
        for (const delta of deltas) text.add(delta, true);
        expect(text.blocks().join('')).toBe(deltas.join(''));
      }),
      { numRuns: 50 },
    );
  });

  it('drops the oldest text over the budget and says where', () => {
    const text = createTextCollector({ maxChars: 10_000 });
    text.add('the very first');
    for (let i = 0; i < 100; i++) text.add(filler(1_000));
    text.add('the very last');
    const kept = text.blocks().join('\n');
    expect(kept.length).toBeLessThan(20_000);
    expect(kept).not.toContain('the very first');
    expect(kept.endsWith('the very last')).toBe(true);
  });

  it('marks the gap in a block that lost its beginning', () => {
    const text = createTextCollector({ maxChars: 10_000 });
    for (let i = 0; i < 100; i++) text.add(`${filler(990)}#${i};`, true);
    const [block = ''] = text.blocks();
    expect(block.startsWith('\n[...]\n')).toBe(true);
    expect(block.endsWith('#99;')).toBe(true);
  });

  it.each(['<promise>OLD</promise>', '<PROMISE>OLD</PROMISE>', '<response>OLD</response>'])(
    'keeps the surroundings of %s however much comes after it',
    (tag) => {
      const text = createTextCollector({ maxChars: 10_000 });
      text.add(`${filler(5_000)}before ${tag} after${filler(5_000)}`);
      for (let i = 0; i < 200; i++) text.add(filler(1_000));
      const [first = ''] = text.blocks();
      expect(first).toContain(`before ${tag} after`);
      expect(first.length).toBeLessThanOrEqual(4_000 + 2 * '\n[...]\n'.length);
    },
  );

  it('keeps a tag that came in pieces, with what stands around it, wherever the text is cut', () => {
    const claim = `[${filler(1_900)}<promise>DONE</promise>${filler(1_900)}]`;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 700 }), (before, size) => {
        const whole = filler(before) + claim + filler(40_000 - before);
        const text = createTextCollector({ maxChars: 10_000 });
        for (let at = 0; at < whole.length; at += size) text.add(whole.slice(at, at + size), true);
        expect(text.blocks().join('')).toContain(claim);
      }),
    );
  });

  it('never makes a tag across a gap', () => {
    const text = createTextCollector({ maxChars: 10_000 });
    for (let i = 0; i < 50; i++) text.add(`<promise>DO${filler(3_000)}NE</promise>`, true);
    expect(text.blocks().join('')).not.toContain('<promise>DONE</promise>');
  });

  it('keeps at most the last 200 openings of dropped text', () => {
    const text = createTextCollector({ maxChars: 10_000 });
    for (let i = 0; i < 230; i++) text.add(`${filler(4_100)}<promise>N${i}</promise>${filler(4_100)}`);
    const kept = text.blocks().join('\n');
    expect(kept).not.toContain('N10<');
    expect(kept).toContain('N100<');
    expect(kept.length).toBeLessThan(202 * 4_020 + 20_000);
  });
});

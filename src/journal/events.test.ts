import { describe, expect, it } from 'vitest';
import { readEvent } from './events.ts';

const notice = { v: 1, seq: 1, at: '2026-11-01T00:00:00.000Z', type: 'notice', text: 'hello' };
const reading = (value: unknown) => readEvent(typeof value === 'string' ? value : JSON.stringify(value));

describe('a line of a journal', () => {
  it('is an event where all fields are as its schema says, whatever else it has', () => {
    const event = { ...notice, field: 'of a newer release' };
    expect(reading(event)).toEqual(event);
  });

  it.each([
    ['no JSON', '{"v":1,"seq":1'],
    ['no object', [notice]],
    ['nothing', 'null'],
    ['without a number', { ...notice, seq: '1' }],
    ['without a time', { ...notice, at: 'yesterday' }],
    ['without a type', { ...notice, type: 7 }],
    ['an event without its field', { ...notice, text: undefined }],
    ['an event with a wrong field', { ...notice, text: 7 }],
    [
      'an event with a wrong field deep in it',
      { ...notice, type: 'verdict', iteration: 1, accepted: true, because: '', evidence: [{ check: 1 }] },
    ],
  ])('is damaged if it is %s', (_name, value) => {
    expect(reading(value)).toBe('damaged');
  });

  it.each([
    ['type', { ...notice, type: 'from.the.future' }],
    ['type that every object has', { ...notice, type: 'toString' }],
    ['version', { ...notice, v: 2, text: 7 }],
  ])('is unknown if its %s is', (_name, value) => {
    expect(reading(value)).toBe('unknown');
  });

  it('may have a reason or a setting that this release does not have', () => {
    const because = { code: 'one-iteration', text: 'stopped after one iteration' };
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const end = { outcome: 'CANCELLED', exitCode: 130, because, iterations: 1, usage, ms: 1 };
    expect(reading({ ...notice, type: 'run.ended', ...end })).toMatchObject({ because });
    const cli = [{ key: 'gone', value: 1, flag: '--gone' }];
    expect(reading({ ...notice, type: 'run.resumed', pid: 1, iteration: 1, cli })).toMatchObject({ cli });
  });
});

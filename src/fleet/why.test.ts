import { describe, expect, it } from 'vitest';
import type { WhyState } from './files/loops.ts';
import { needsYou } from './files/loops.ts';
import { byUrgency, nextCommand, stateText, whyNow, whyText } from './why.ts';

const now = new Date(2026, 10, 16, 12, 0).getTime();

describe('why a loop stands where it stands', () => {
  it.each<[Parameters<typeof whyText>[0], string]>([
    [{ state: 'working', since: now }, 'working'],
    [{ state: 'permission', since: now }, 'needs you: waits for your permission'],
    [
      { state: 'limit', since: now, until: new Date(2026, 10, 16, 14, 30).getTime() },
      'usage limit until 14:30',
    ],
    [
      {
        state: 'limit',
        since: now,
        until: new Date(2026, 10, 19, 2, 5).getTime(),
        detail: 'the account claude is at its usage limit',
      },
      'usage limit until 2026-11-19 02:05',
    ],
    [{ state: 'queued', since: now, detail: '8 of 8 run' }, 'waits for its turn (8 of 8 run)'],
    [{ state: 'blocked', since: now, detail: 'the login' }, 'needs you: stopped by the login'],
    [{ state: 'window-lost', since: now }, 'window lost'],
  ])('is told in words: %j', (why, text) => {
    expect(whyText(why, now)).toBe(text);
  });

  it('is told of the past, too', () => {
    expect(stateText('answer')).toBe('needs you: waits for your answer');
    expect(stateText('blocked: the login')).toBe('needs you: stopped by the login');
    expect(stateText('something else: here')).toBe('something else: here');
  });

  it('tells since when', () => {
    expect(whyNow({ state: 'idle', since: now - 125_000 }, now)).toBe('idle, for 2m');
  });

  it('puts those first that wait for you', () => {
    const states: WhyState[] = [
      'done',
      'working',
      'paused',
      'permission',
      'queued',
      'limit',
      'answer',
      'failed',
    ];
    const rows = states.map((state, at) => ({ name: `w${at}`, state }));
    expect(rows.sort(byUrgency).map(({ state }) => state)).toEqual([
      'permission',
      'answer',
      'failed',
      'limit',
      'working',
      'queued',
      'paused',
      'done',
    ]);
    expect(states.filter(needsYou)).toEqual(['permission', 'answer']);
  });

  it('knows the next command', () => {
    expect(nextCommand('a', { state: 'logged-out', since: now })).toBe('swarm attach a');
    expect(nextCommand('a', { state: 'paused', since: now })).toBe('swarm ralph resume a');
    expect(nextCommand('a', { state: 'working', since: now })).toBeNull();
  });
});

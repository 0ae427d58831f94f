import { describe, expect, it } from 'vitest';
import { newRecord } from './files/loop-record.ts';
import { type Facts, needsDriving, whatNext } from './what-next.ts';

const settings = { prompt_file: '/p.md', max_iterations: 10, done_pattern: null, inactivity_timeout: 60 };
const fresh = newRecord('a', { settings, options: {}, held: false }, 0);
const running = { ...fresh, iteration: 3, ended: 2, launch: 7 };
const owner = { name: 'a', launch: 7, prompted: true };
const facts: Facts = {
  loop: running,
  now: 1000,
  pane: { owner, dead: false, exitCode: null },
  started: 7,
  ended: { launch: 6, exitCode: 0 },
  missedBefore: false,
  isWatched: true,
};
const next = (change: Partial<Facts>) => whatNext({ ...facts, ...change });

describe('what comes next for a loop', () => {
  it('is to watch an agent that works, whatever earlier ones left behind', () => {
    expect(next({})).toEqual({ kind: 'watch' });
  });

  it('is to book the end that the agent itself left, before all else', () => {
    const ended = { launch: 7, exitCode: 9 };
    const exited = { kind: 'finish', how: 'exited', exitCode: 9 };
    expect(next({ ended })).toEqual(exited);
    expect(next({ ended, pane: null })).toEqual(exited);
    expect(next({ ended, pane: undefined })).toEqual(exited);
  });

  it('is to take the exit code of tmux where the window was killed', () => {
    expect(next({ pane: { owner, dead: true, exitCode: 129 } })).toMatchObject({
      how: 'exited',
      exitCode: 129,
    });
    expect(next({ pane: { owner, dead: true, exitCode: null } })).toMatchObject({ how: 'lost' });
  });

  it('is to look twice before a window is given up for lost', () => {
    expect(next({ pane: null })).toEqual({ kind: 'look' });
    expect(next({ pane: null, missedBefore: true })).toMatchObject({ kind: 'finish', how: 'lost' });
    expect(next({ pane: null, missedBefore: true, isWatched: false })).toEqual({
      kind: 'unclaim',
      isLost: true,
    });
  });

  it('is to start what was claimed and never started', () => {
    const old = { owner: { ...owner, launch: 6 }, dead: true, exitCode: 0 };
    expect(next({ started: 6, pane: null })).toEqual({ kind: 'start' });
    expect(next({ started: 6, pane: old })).toEqual({ kind: 'start' });
    const paused = { ...running, status: 'paused' } as const;
    expect(next({ started: 6, pane: old, loop: paused })).toEqual({ kind: 'unclaim', isLost: false });
  });

  it('is the next iteration when the wait is over', () => {
    const between = { ...running, ended: 3, waitUntil: 5000 };
    expect(next({ loop: between })).toEqual({ kind: 'wait', until: 5000 });
    expect(next({ loop: between, now: 5000 })).toEqual({ kind: 'start' });
    expect(next({ loop: { ...between, status: 'paused' } })).toEqual({ kind: 'leave' });
  });

  it('is nothing for a loop that is over, or that nobody drives yet', () => {
    for (const status of ['stopped', 'failed'] as const) {
      expect(next({ loop: { ...running, status } })).toEqual({ kind: 'leave' });
    }
    expect(next({ loop: { ...running, held: true } })).toEqual({ kind: 'leave' });
  });

  it('is somebody’s business as long as an agent may still work', () => {
    expect(needsDriving(running)).toBe(true);
    expect(needsDriving({ ...running, status: 'paused' })).toBe(true);
    expect(needsDriving({ ...running, status: 'paused', ended: 3 })).toBe(false);
    expect(needsDriving({ ...running, status: 'stopped' })).toBe(false);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPaused, type Mailbox, openMailbox, postNote, postPause } from './mailbox.ts';

let home: string;
let env: Record<string, string>;
let mailbox: Mailbox;
const never = new AbortController().signal;
/** A test that needs the look at the clock does not end. */
const noLooks = { watchedMs: 2 ** 31 - 1, unwatchedMs: 2 ** 31 - 1 };

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ralph-mailbox-'));
  env = { HOME: home, XDG_STATE_HOME: home };
  mailbox = openMailbox(env, 'run', () => {}, noLooks);
  // The watch begins after what was under way when the mailbox was opened.
  await setImmediate();
});

afterEach(async () => {
  mailbox.close();
  await rm(home, { recursive: true, force: true });
});

describe('who waits for mail', () => {
  it('hears of a pause that is over', async () => {
    postPause(env, 'run', true);
    while (!isPaused(env, 'run')) await mailbox.waitForChange(never);
    const over = (async () => {
      while (isPaused(env, 'run')) await mailbox.waitForChange(never);
      return 'over';
    })();
    postPause(env, 'run', false);
    expect(await over).toBe('over');
  });

  it('wakes for a note, and finds it', async () => {
    const notes: string[] = [];
    const found = (async () => {
      while (notes.length === 0) {
        await mailbox.waitForChange(never);
        notes.push(...mailbox.takeNotes());
      }
    })();
    postNote(env, 'run', 'use tabs', 1);
    await found;
    expect(notes).toEqual(['use tabs']);
  });

  it('stops waiting when the run is to end', async () => {
    const end = new AbortController();
    const waiting = mailbox.waitForChange(end.signal);
    end.abort();
    await expect(waiting).resolves.toBeUndefined();
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../os/clock.ts';
import { createRalphLoopHook } from './hook.ts';
import type { HostMessage } from './host-messages.ts';

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('idle' as const) },
  { weight: 4, arbitrary: fc.constantFrom(100, 500, 6000) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'answer',
      'error',
      'user',
      'user event',
      'other idle',
      'broken',
      'whole',
      'slow',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('start', 'abort', 'cancel', 'delete', 'restart') },
);

it('whatever happens, there is one prompt for an idle event, never too many, and none after the end', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 4 }), play), {
    numRuns: 150,
  });
}, 120_000);

/** Plays the steps against a host, and checks at each prompt that it may be there. */
async function play(steps: readonly (string | number)[], maxIterations: number): Promise<void> {
  const workdir = mkdtempSync(join(tmpdir(), 'hook-property-'));
  const clock = createFakeClock();
  const messages: HostMessage[] = [];
  const wrong: string[] = [];
  let idles = 0;
  let prompts = 0;
  let running = false;
  let injection: 'works' | 'fails' | 'slow' = 'works';

  const createHook = () =>
    createRalphLoopHook({
      workdir,
      clock,
      getMessages: async () => [...messages],
      injectPrompt: async (sessionId, prompt) => {
        if (injection === 'fails') throw new Error('broken');
        prompts++;
        // Thrown here, it would be taken for an injection that failed.
        if (!running || sessionId !== 's1') wrong.push('a prompt after the end');
        if (idles === 0) wrong.push('a prompt without an idle event');
        if (prompts >= maxIterations) wrong.push('too many prompts');
        idles = 0;
        messages.push({ role: 'user', content: prompt });
        if (injection === 'slow') await clock.sleep(1000);
      },
    });
  let hook = createHook();
  const tell = (event: string, sessionId: string, data?: unknown) =>
    hook.handler({ event, sessionId, ...(data === undefined ? {} : { data }) });
  const start = () => {
    expect(hook.startLoop('s1', 'mend it', { maxIterations })).toBe(true);
    running = true;
    idles = 0;
    prompts = 0;
  };
  const actions: Record<string, () => unknown> = {
    idle: () => {
      idles++;
      return tell('session.idle', 's1');
    },
    'other idle': () => tell('session.idle', 's2'),
    answer: () => messages.push({ role: 'assistant', content: 'working' }),
    error: () => tell('session.error', 's1', { error: { name: 'APIError' } }),
    user: () => messages.push({ role: 'user', content: 'look here' }),
    'user event': () => tell('user.message', 's1'),
    broken: () => {
      injection = 'fails';
    },
    whole: () => {
      injection = 'works';
    },
    slow: () => {
      injection = 'slow';
    },
    start,
    abort: () => {
      running = false;
      return tell('session.error', 's1', { error: { name: 'MessageAbortedError' } });
    },
    cancel: () => {
      running = false;
      hook.cancelLoop('s1');
    },
    delete: () => {
      running = false;
      return tell('session.deleted', 's1');
    },
    restart: () => {
      hook.dispose();
      hook = createHook();
    },
  };

  try {
    start();
    for (const what of steps) {
      if (typeof what === 'number') await clock.advance(what);
      else await actions[what]?.();
    }
    await clock.advance(60_000);
    expect(wrong).toEqual([]);
    if (!running) expect(hook.getState()).toBeNull();
    expect(clock.pending()).toBe(0);
  } finally {
    hook.dispose();
    rmSync(workdir, { recursive: true, force: true });
  }
}

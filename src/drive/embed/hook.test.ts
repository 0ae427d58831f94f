import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../os/clock.ts';
import { createRalphLoopHook } from './hook.ts';
import type { HostMessage } from './host-messages.ts';
import type { RalphLoopOptions, Toast } from './types.ts';

const done = 'All done. <promise>DONE</promise>';
let workdir: string;
let clock: FakeClock;

beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'hook-'));
  clock = createFakeClock();
});

afterEach(() => rmSync(workdir, { recursive: true, force: true }));

/** A host with one list of messages, whose prompts are kept. */
function createHost(options: RalphLoopOptions = {}) {
  const messages: HostMessage[] = [];
  const prompts: string[] = [];
  const toasts: Toast[] = [];
  const hook = createRalphLoopHook({
    workdir,
    clock,
    getMessages: async () => [...messages],
    injectPrompt: async (_, prompt) => {
      prompts.push(prompt);
      messages.push({ role: 'user', content: prompt });
    },
    showToast: (toast) => void toasts.push(toast),
    ...options,
  });
  return {
    hook,
    messages,
    prompts,
    toasts,
    says: (content: string) => messages.push({ role: 'assistant', content }),
    idle: (sessionId = 's1') => hook.handler({ event: 'session.idle', sessionId }),
    fails: (name = 'APIError') =>
      hook.handler({ event: 'session.error', sessionId: 's1', data: { error: { name } } }),
    /** The agent answers, and the session is idle until the next prompt is there. */
    async turn(content: string) {
      messages.push({ role: 'assistant', content });
      await hook.handler({ event: 'session.idle', sessionId: 's1' });
      await clock.advance(500);
    },
  };
}

describe('RalphLoopHook', () => {
  it('should start loop and save state', () => {
    const { hook, toasts } = createHost();
    expect(
      hook.startLoop('s1', 'mend it', { maxIterations: 5, completionPromise: 'FIXED', description: 'd' }),
    ).toBe(true);
    expect(hook.getState('s1')).toEqual({
      active: true,
      iteration: 1,
      maxIterations: 5,
      completionPromise: 'FIXED',
      startedAt: '2026-01-01T00:00:00.000Z',
      prompt: 'mend it',
      sessionId: 's1',
      description: 'd',
    });
    expect(hook.isLoopActive('s1')).toBe(true);
    expect(hook.isLoopActive('s2')).toBe(false);
    expect(hook.getState('s2')).toBeNull();
    expect(toasts).toEqual([
      {
        title: 'Ralph Loop Started',
        message: 'Max 5 iterations. Complete with <promise>FIXED</promise>',
        variant: 'info',
        duration: 3000,
      },
    ]);
  });

  it('keeps a default where an option is named but not set, and refuses a promise that calls for a human', () => {
    const config = { defaultMaxIterations: undefined, defaultCompletionPromise: undefined };
    const { hook } = createHost({ config });
    expect(hook.startLoop('s1', 'mend it', { completionPromise: 'BLOCKED: x' })).toBe(false);
    expect(hook.startLoop('s1', 'mend it')).toBe(true);
    expect(hook.getState('s1')).toMatchObject({ maxIterations: 100, completionPromise: 'DONE' });
  });

  it('starts nothing where its state cannot be kept, and comes back', () => {
    const { hook } = createHost({ workdir: '/proc/nope' });
    expect(hook.startLoop('s1', 'mend it')).toBe(false);
  });

  it('should detect completion and clear state', async () => {
    const { hook, prompts, toasts } = createHost({
      getMessages: async () => [{ role: 'assistant', content: done }],
    });
    hook.startLoop('s1', 'mend it');
    await hook.handler({ event: 'session.idle', sessionId: 's1', data: {} });
    await clock.advance(10_000);
    expect(hook.getState()).toBeNull();
    expect(prompts).toEqual([]);
    expect(toasts.at(-1)).toMatchObject({ title: 'Ralph Loop Complete!', variant: 'success' });
  });

  it.each(['user.message', 'session.error'])(
    'sends nothing where %s comes while the messages are read for the last time',
    async (event) => {
      let reads = 0;
      const host = createHost({
        async getMessages() {
          // Read when the session is idle, and before the prompt.
          if (++reads === 2) await host.hook.handler({ event, sessionId: 's1' });
          return [{ role: 'assistant', content: 'Still at it.' }];
        },
      });
      host.hook.startLoop('s1', 'mend it');
      await host.idle();
      await clock.advance(500);
      expect(reads).toBe(2);
      expect(host.prompts).toEqual([]);
      expect(host.hook.getState('s1')?.iteration).toBe(1);
    },
  );

  it('should increment on session.idle without completion', async () => {
    const { hook, prompts, idle, says } = createHost();
    hook.startLoop('s1', 'mend it', { maxIterations: 3 });
    says('working');
    await idle();
    expect(hook.getState('s1')).toMatchObject({ iteration: 2, lastIterationAt: expect.any(String) });
    expect(prompts).toEqual([]);
    await clock.advance(499);
    expect(prompts).toEqual([]);
    await clock.advance(1);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toMatch(/^\[RALPH LOOP - ITERATION 2\/3\][\s\S]*Original task:\nmend it$/);
  });

  it('should stop at max iterations', async () => {
    const { hook, prompts, toasts, turn } = createHost();
    hook.startLoop('s1', 'mend it', { maxIterations: 2 });
    await turn('one');
    await turn('two');
    expect(hook.getState()).toBeNull();
    expect(prompts).toHaveLength(1);
    expect(toasts.at(-1)).toMatchObject({
      title: 'Ralph Loop Stopped',
      message: 'Max iterations (2) reached without completion',
      variant: 'warning',
    });
  });

  it.each(['MessageAbortedError', 'AbortError'])('should cancel on user abort (%s)', async (name) => {
    const { hook, prompts, idle, fails } = createHost();
    hook.startLoop('s1', 'mend it');
    await idle();
    await fails(name);
    expect(hook.getState()).toBeNull();
    await idle();
    await clock.advance(60_000);
    expect(prompts).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('should skip during recovery', async () => {
    const { hook, prompts, idle, fails } = createHost();
    hook.startLoop('s1', 'mend it');
    await fails();
    await idle();
    await clock.advance(4999);
    expect(hook.getState()?.iteration).toBe(1);
    expect(prompts).toEqual([]);
  });

  it('has the name, the priority and the events that a registry reads', () => {
    const { hook } = createHost();
    expect(hook).toMatchObject({
      name: 'ralph-loop',
      priority: 50,
      events: ['session.idle', 'session.error', 'session.deleted'],
    });
  });

  it('works with defaults alone', async () => {
    const hook = createRalphLoopHook({ workdir, clock });
    expect(hook.startLoop('s1', 'mend it')).toBe(true);
    expect(hook.getState()).toMatchObject({ maxIterations: 100, completionPromise: 'DONE' });
    await hook.handler({ event: 'session.idle', sessionId: 's1' });
    expect(hook.getState()?.iteration).toBe(2);
    hook.dispose();
  });
});

describe('Ralph Loop Integration', () => {
  it('should complete after agent outputs promise', async () => {
    const { hook, prompts, turn } = createHost();
    hook.startLoop('s1', 'mend it');
    await turn('working');
    await turn(done);
    expect(hook.getState()).toBeNull();
    expect(prompts).toHaveLength(1);
  });

  it('should continue for multiple iterations', async () => {
    const { hook, prompts, turn } = createHost();
    hook.startLoop('s1', 'mend it', { maxIterations: 10 });
    for (const text of ['one', 'two', 'three', done]) await turn(text);
    expect(prompts.map((prompt) => prompt.split('\n')[0])).toEqual([
      '[RALPH LOOP - ITERATION 2/10]',
      '[RALPH LOOP - ITERATION 3/10]',
      '[RALPH LOOP - ITERATION 4/10]',
    ]);
    expect(hook.getState()).toBeNull();
  });

  it('should persist state across restarts', async () => {
    const first = createHost();
    first.hook.startLoop('s1', 'mend it', { maxIterations: 3 });
    await first.turn('one');
    first.hook.dispose();

    const second = createHost();
    expect(second.hook.getState('s1')).toMatchObject({ iteration: 2, prompt: 'mend it' });
    await second.turn('two');
    expect(second.prompts[0]).toContain('ITERATION 3/3');
    await second.turn('three');
    expect(second.hook.getState()).toBeNull();
  });

  it('accepts on the last allowed iteration', async () => {
    const { hook, toasts, turn } = createHost();
    hook.startLoop('s1', 'mend it', { maxIterations: 2 });
    await turn('one');
    await turn(done);
    expect(toasts.at(-1)?.title).toBe('Ralph Loop Complete!');
  });
});

describe('one prompt for one idle event', () => {
  it.each([0, 500])('makes one prompt of two idle events at once, %i ms later', async (continuationDelay) => {
    const { hook, prompts, idle } = createHost({ config: { continuationDelay } });
    hook.startLoop('s1', 'mend it');
    await Promise.all([idle(), idle(), idle()]);
    await clock.advance(5000);
    expect(prompts).toHaveLength(1);
    expect(hook.getState()?.iteration).toBe(2);
  });

  it('makes one prompt of an idle event while the prompt is on its way', async () => {
    let arrive = () => {};
    const prompts: string[] = [];
    const { hook, idle } = createHost({
      injectPrompt: (_, prompt) => {
        prompts.push(prompt);
        return new Promise<void>((resolve) => {
          arrive = resolve;
        });
      },
    });
    hook.startLoop('s1', 'mend it');
    await idle();
    await clock.advance(500);
    await idle();
    arrive();
    await clock.advance(5000);
    expect(prompts).toHaveLength(1);
  });

  it('goes on where the host answers an injection only after the turn', async () => {
    const host = createHost({
      // Node's timers may fire a little early.
      clock: { ...clock, timer: (ms, fn) => clock.timer(ms - 1, fn) },
      injectPrompt: async (_, prompt) => {
        host.prompts.push(prompt);
        host.messages.push({ role: 'user', content: prompt });
        host.says(host.prompts.length < 3 ? 'working' : done);
        await host.idle();
      },
    });
    host.hook.startLoop('s1', 'mend it');
    await host.turn('one');
    await clock.advance(5000);
    expect(host.prompts).toHaveLength(3);
    expect(host.hook.getState()).toBeNull();
  });

  it('makes one prompt of one answer, and goes on when the next one is there', async () => {
    const { hook, prompts, idle, turn } = createHost();
    hook.startLoop('s1', 'mend it');
    await turn('one');
    for (let event = 0; event < 3; event++) {
      await idle();
      await clock.advance(5000);
    }
    expect(prompts).toHaveLength(1);
    expect(hook.getState()?.iteration).toBe(2);
    await turn('two');
    expect(prompts).toHaveLength(2);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no connection'))],
    ['returns an error', async () => ({ error: { name: 'APIError', data: { message: 'no connection' } } })],
  ])('does not count an injection that %s, and tries it again on the next idle event', async (_, fail) => {
    let broken = true;
    const host = createHost({
      injectPrompt: async (_id, prompt) => {
        if (broken) return fail();
        return host.prompts.push(prompt);
      },
    });
    host.hook.startLoop('s1', 'mend it');
    await host.turn('one');
    expect(host.hook.getState()).toMatchObject({ iteration: 1 });
    expect(host.hook.getState()).not.toHaveProperty('lastIterationAt');
    expect(host.toasts.at(-1)).toMatchObject({
      variant: 'error',
      message: expect.stringContaining('no connection'),
    });
    broken = false;
    await host.idle();
    await clock.advance(500);
    expect(host.prompts).toHaveLength(1);
    expect(host.prompts[0]).toContain('ITERATION 2/100');
    expect(host.hook.getState()?.iteration).toBe(2);
  });
});

describe('the user comes first', () => {
  it('drops the prompt when a message of the user came before it', async () => {
    const { hook, messages, prompts, idle, turn } = createHost();
    hook.startLoop('s1', 'mend it');
    await idle();
    messages.push({ role: 'user', content: 'wait, look at this first' });
    await clock.advance(500);
    expect(prompts).toEqual([]);
    expect(hook.getState()?.iteration).toBe(1);
    await turn('looked');
    expect(prompts).toHaveLength(1);
    expect(hook.getState()?.iteration).toBe(2);
  });

  it.each([0, 200])('drops the prompt when the host says so after %i ms', async (ms) => {
    const { hook, prompts, idle } = createHost();
    hook.startLoop('s1', 'mend it');
    const idling = idle();
    if (ms > 0) await clock.advance(ms);
    await hook.handler({ event: 'user.message', sessionId: 's1' });
    await idling;
    await clock.advance(5000);
    expect(prompts).toEqual([]);
    expect(hook.getState()?.iteration).toBe(1);
  });

  it('cancels a loop with its pending prompt', async () => {
    const { hook, prompts, toasts, idle } = createHost();
    expect(hook.cancelLoop('s1')).toBe(false);
    hook.startLoop('s1', 'mend it');
    await idle();
    expect(hook.cancelLoop('s2')).toBe(false);
    expect(hook.cancelLoop('s1')).toBe(true);
    expect(hook.isLoopActive('s1')).toBe(false);
    await clock.advance(5000);
    expect(prompts).toEqual([]);
    expect(toasts.at(-1)).toMatchObject({ title: 'Ralph Loop Cancelled' });
  });

  it('cancels while the messages are being read', async () => {
    const host = createHost({
      getMessages: async () => {
        await clock.sleep(1000);
        return [];
      },
    });
    host.hook.startLoop('s1', 'mend it');
    const idling = host.idle();
    host.hook.cancelLoop('s1');
    await clock.advance(5000);
    await idling;
    expect(host.prompts).toEqual([]);
    expect(host.hook.getState()).toBeNull();
  });
});

describe('errors of the session', () => {
  it('goes on when the recovery window ends, after the only idle event fell into it', async () => {
    const { hook, prompts, idle, fails } = createHost();
    hook.startLoop('s1', 'mend it');
    await fails();
    await idle();
    await clock.advance(5500);
    expect(prompts).toHaveLength(1);
    expect(hook.getState()?.iteration).toBe(2);
  });

  it('waits out the window of the last error, and takes its length from the config', async () => {
    const { hook, prompts, idle, fails } = createHost({ config: { recoveryWindow: 1000 } });
    hook.startLoop('s1', 'mend it');
    await idle();
    await fails();
    await clock.advance(900);
    await fails();
    await clock.advance(1400);
    expect(prompts).toEqual([]);
    await clock.advance(100);
    expect(prompts).toHaveLength(1);
  });

  it('does nothing of its own after an error without an idle event', async () => {
    const { hook, prompts, fails } = createHost();
    hook.startLoop('s1', 'mend it');
    await fails();
    await clock.advance(60_000);
    expect(prompts).toEqual([]);
  });

  it('ends after so many failed turns as the config allows', async () => {
    const { hook, prompts, toasts, idle, fails } = createHost({ config: { maxFailures: 2 } });
    hook.startLoop('s1', 'mend it');
    for (let turn = 0; turn < 2; turn++) {
      await fails();
      await idle();
      await clock.advance(6000);
    }
    expect(prompts).toHaveLength(1);
    expect(hook.getState()).toBeNull();
    expect(toasts.at(-1)?.message).toContain('2 failed turns in a row');
  });

  it('keeps the loop when the messages cannot be read', async () => {
    const { hook, idle } = createHost({ getMessages: async () => Promise.reject(new Error('gone')) });
    hook.startLoop('s1', 'mend it');
    await idle();
    expect(hook.getState()?.iteration).toBe(1);
  });

  it('lives with toasts that throw or reject', async () => {
    for (const showToast of [
      () => {
        throw new Error('no screen');
      },
      () => Promise.reject(new Error('no screen')),
    ]) {
      const { hook, prompts, turn } = createHost({ showToast });
      expect(hook.startLoop('s1', 'mend it')).toBe(true);
      await turn('working');
      expect(prompts).toHaveLength(1);
      hook.cancelLoop('s1');
    }
  });
});

describe('which messages count', () => {
  it('does not take a promise from before the loop', async () => {
    const { hook, messages, prompts, says, turn } = createHost();
    says(done);
    hook.startLoop('s1', 'mend it');
    await clock.advance(0);
    messages.push({ role: 'user', content: 'mend it' });
    await turn('working');
    expect(prompts).toHaveLength(1);
  });

  it('does not take the promise of a turn before, in a list that the host cuts', async () => {
    const host = createHost({
      getMessages: async () => host.messages.slice(-3),
      config: { match: 'lenient', minToolCalls: 1 },
    });
    host.hook.startLoop('s1', 'mend it');
    await host.turn(done);
    await host.turn('working');
    expect(host.prompts).toHaveLength(2);
    expect(host.prompts[0]).toContain('Promise detected, but no tool calls/work were performed');
    expect(host.prompts[1]).not.toContain('Promise detected');
  });

  it('does not take the prompt that the host lists for a claim', async () => {
    const { hook, messages, prompts, idle } = createHost();
    hook.startLoop('s1', 'mend it');
    messages.push({ role: 'user', content: `mend it, then ${done}` });
    await idle();
    await clock.advance(500);
    expect(prompts).toHaveLength(1);
  });

  it('goes by the ids of messages where there are some', async () => {
    const ids = { next: 0 };
    const host = createHost({
      getMessages: async () => ({ data: host.messages.map((message, id) => ({ id: `m${id}`, ...message })) }),
      config: { minToolCalls: 2 },
    });
    const tool = { type: 'tool' };
    const turn = async (...content: { type: string; text?: string }[]) => {
      host.messages.push({ role: 'assistant', content, id: `a${ids.next++}` });
      await host.idle();
      await clock.advance(500);
    };
    host.hook.startLoop('s1', 'mend it');
    await turn(tool, { type: 'text', text: done });
    expect(host.hook.getState()).toMatchObject({ iteration: 2, counters: { toolCalls: 1 } });
    await turn(tool, { type: 'text', text: 'more' });
    expect(host.hook.getState()).toMatchObject({ iteration: 3, counters: { toolCalls: 2 } });
    await turn({ type: 'text', text: done });
    expect(host.hook.getState()).toBeNull();
  });

  it('ends for a human when the agent is blocked', async () => {
    const { hook, toasts, turn } = createHost();
    hook.startLoop('s1', 'mend it');
    await turn('<promise>BLOCKED: the key is missing</promise>');
    expect(hook.getState()).toBeNull();
    expect(toasts.at(-1)).toMatchObject({ variant: 'warning', message: 'the key is missing' });
  });

  it('takes the match of the config', async () => {
    const { hook, prompts, turn } = createHost({ config: { match: 'claim' } });
    hook.startLoop('s1', 'mend it');
    await turn('<promise> done </promise>');
    expect(prompts).toHaveLength(1);
  });

  it('answers a mention where the match is strict', async () => {
    const { hook, prompts, turn } = createHost();
    hook.startLoop('s1', 'mend it', { match: 'claim', instruction: 'Work hard.' });
    await turn('I will not output <promise>DONE</promise> yet.');
    expect(prompts[0]).toMatch(/^Work hard\.\n\n\[RALPH LOOP/);
    expect(prompts[0]).toContain('which does not count as a claim');
  });

  it('is stuck after turns without a tool call, where the config says so', async () => {
    const host = createHost({ config: { maxTurnsWithoutTools: 2 } });
    host.hook.startLoop('s1', 'mend it');
    for (let turn = 0; turn < 2; turn++) {
      host.messages.push({ role: 'assistant', content: [{ type: 'text', text: 'thinking about it' }] });
      await host.idle();
      await clock.advance(500);
    }
    expect(host.prompts).toHaveLength(1);
    expect(host.hook.getState()).toBeNull();
  });
});

describe('whose loop it is', () => {
  it.each([
    ['sessionId', { sessionId: 's1' }],
    ['sessionID', { sessionID: 's1' }],
    ['info', { info: { id: 's1' } }],
  ])('clears the loop of a deleted session, told by %s', async (_, data) => {
    const { hook, prompts, idle } = createHost();
    hook.startLoop('s1', 'mend it');
    await idle();
    await hook.handler({ event: 'session.deleted', sessionId: 'other', data });
    expect(hook.getState()).toBeNull();
    await clock.advance(5000);
    expect(prompts).toEqual([]);
  });

  it('leaves the loop alone when another session is deleted, idle or broken', async () => {
    const { hook, prompts, idle } = createHost();
    hook.startLoop('s1', 'mend it');
    await hook.handler({ event: 'session.deleted', sessionId: 's2' });
    await hook.handler({ event: 'session.error', sessionId: 's2', data: { error: { name: 'AbortError' } } });
    await idle('s2');
    await clock.advance(5000);
    expect(prompts).toEqual([]);
    expect(hook.getState()).toMatchObject({ sessionId: 's1', iteration: 1 });
  });

  it.each([
    ['is gone', async () => false, null],
    ['exists', async () => true, 's1'],
    ['cannot be looked for', async () => Promise.reject(new Error('offline')), 's1'],
  ])('on the idle event of another session, the loop of one that %s', async (_, checkSessionExists, left) => {
    const { hook, idle } = createHost({ checkSessionExists });
    hook.startLoop('s1', 'mend it');
    await idle('s2');
    expect(hook.getState()?.sessionId ?? null).toBe(left);
  });

  it('does not prompt for a loop that another host cancelled meanwhile', async () => {
    const first = createHost();
    const second = createHost();
    first.hook.startLoop('s1', 'mend it');
    await first.idle();
    expect(second.hook.cancelLoop('s1')).toBe(true);
    await clock.advance(5000);
    expect(first.prompts).toEqual([]);
    expect(first.hook.getState()).toBeNull();
  });

  it('sets a torn state aside and goes on without a loop', async () => {
    const warnings: string[] = [];
    const log = { info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const { hook, idle } = createHost({ log });
    hook.startLoop('s1', 'mend it');
    writeFileSync(join(workdir, '.ralph/ralph-loop-state.json'), '{"active":');
    await idle();
    expect(hook.getState()).toBeNull();
    expect(warnings).toHaveLength(1);
    expect(readdirSync(join(workdir, '.ralph'))).toEqual(['ralph-loop-state.json.bad-1']);
    expect(hook.startLoop('s1', 'again')).toBe(true);
  });

  it.each([
    ['an empty task', ' ', {}],
    ['an empty promise', 'mend it', { completionPromise: ' ' }],
    ['no iterations', 'mend it', { maxIterations: 0 }],
    ['half an iteration', 'mend it', { maxIterations: 1.5 }],
  ])('does not start with %s', (_, prompt, options) => {
    const { hook } = createHost();
    expect(hook.startLoop('s1', prompt, options)).toBe(false);
    expect(hook.getState()).toBeNull();
  });

  it('does nothing when it is switched off', async () => {
    const { hook } = createHost({ config: { enabled: false } });
    expect(hook.startLoop('s1', 'mend it')).toBe(false);
    expect(readdirSync(workdir)).toEqual([]);
  });

  it('leaves no timer behind, and the loop for the next start', async () => {
    const { hook, prompts, idle } = createHost();
    hook.startLoop('s1', 'mend it');
    await idle();
    hook.dispose();
    expect(clock.pending()).toBe(0);
    await clock.advance(5000);
    expect(prompts).toEqual([]);
    expect(hook.getState()?.iteration).toBe(1);
  });
});

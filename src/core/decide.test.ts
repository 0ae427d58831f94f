import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aPlan } from '../../test/core/loop-examples.ts';
import { decide, newLoop } from './decide.ts';
import type { Check } from './evidence.ts';
import type { Limits, LoopPlan, LoopState } from './loop.ts';
import { composePrompt } from './prompt.ts';
import type { Turn } from './turn.ts';

const tag = '<promise>DONE</promise>';
const worked: Turn = {
  text: ['I changed a file.'],
  toolCalls: 2,
  end: 'finished',
  exitCode: 0,
  progress: { commits: 0, filesChanged: 1 },
  endedAt: 1_000_000,
  durationMs: 1000,
};
const claimed: Turn = { ...worked, text: ['All finished.', tag] };
const failed: Turn = { ...worked, end: 'failed', exitCode: 1, error: 'boom' };
const testsFail: Check = {
  check: 'guardrail: npm test',
  ok: false,
  detail: 'exit code 1',
  feedback: { action: 'APPEND', text: 'Guardrail "npm test" failed with exit code 1.' },
};

function loopWith(change: Partial<Limits> = {}, planChange: Partial<LoopPlan> = {}): LoopState {
  return newLoop({ ...aPlan(change), ...planChange }, 'Fix the bug');
}

describe('decide on claims', () => {
  it('accepts a claim with work', () => {
    const { decision, verdict, loop } = decide(loopWith(), claimed, []);
    expect(decision).toMatchObject({ kind: 'stop', outcome: 'PROMISE_ACCEPTED' });
    expect(verdict?.evidence).toEqual([
      { check: 'turn', ok: true, detail: 'finished' },
      { check: 'tool-calls', ok: true, detail: '2 tool calls' },
    ]);
    expect(loop.outcome).toBe('PROMISE_ACCEPTED');
  });

  it('tells a turn whose calls were all refused how they are allowed, and ends for a human after the next', () => {
    const refused: Turn = {
      ...worked,
      toolCalls: 0,
      allRefused: true,
      progress: { commits: 0, filesChanged: 0 },
    };
    const first = decide(loopWith({ iterations: 9 }), refused, []);
    expect(first.decision.kind).toBe('continue');
    expect(first.loop.feedback[0]?.text).toMatch(/refused.*--permissions.*ralph guard explain/);
    const second = decide(first.loop, refused, []);
    expect(second.decision).toMatchObject({ outcome: 'BLOCKED', because: { code: 'blocked' } });
    expect(second.decision.because.text).toMatch(/every tool call was refused.*--permissions/);
    // A turn without a call changes nothing, a call that succeeds does.
    const silent = decide(first.loop, { ...refused, allRefused: false }, []);
    expect(decide(silent.loop, refused, []).decision).toMatchObject({ outcome: 'BLOCKED' });
    const helped = decide(first.loop, worked, []);
    expect(decide(helped.loop, refused, []).decision.kind).toBe('continue');
    // A loop that gets stuck afterwards is stuck because of the refusals.
    const stuck = decide({ ...silent.loop, withoutProgress: 99 }, { ...refused, allRefused: false }, []);
    expect(stuck.decision).toMatchObject({ outcome: 'BLOCKED', because: { code: 'blocked' } });
    // The last iteration says why, too.
    expect(decide(loopWith({ iterations: 1 }), refused, []).decision).toMatchObject({ outcome: 'BLOCKED' });
  });

  it('judges the claim that the driver read and checked, and reads no other', () => {
    const claim = { kind: 'done', tag } as const;
    expect(decide(loopWith(), worked, [testsFail], claim).verdict?.accepted).toBe(false);
    expect(decide(loopWith(), claimed, [], { kind: 'none' }).verdict).toBeUndefined();
  });

  it('accepts a claim on the last allowed iteration', () => {
    expect(decide(loopWith({ iterations: 1 }), claimed, []).decision).toMatchObject({
      outcome: 'PROMISE_ACCEPTED',
    });
  });

  it('rejects a claim without a tool call and says so in the next prompt', () => {
    const { loop, decision, verdict } = decide(loopWith(), { ...claimed, toolCalls: 0 }, []);
    expect(verdict).toMatchObject({
      accepted: false,
      because: 'tool-calls: 0 tool calls succeeded, at least 1 wanted',
    });
    expect(decision).toMatchObject({ kind: 'continue', because: { code: 'claim-rejected' } });
    expect(composePrompt(loop)).toContain(
      'Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.',
    );
  });

  it('counts tool calls since the loop began', () => {
    const { loop } = decide(loopWith(), worked, []);
    expect(decide(loop, { ...claimed, toolCalls: 0 }, []).decision).toMatchObject({
      outcome: 'PROMISE_ACCEPTED',
    });
  });

  it('judges an agent that cannot report tool calls by what it changed, if anybody asked', () => {
    const silent: Turn = { ...claimed, toolCalls: null, progress: { commits: 0, filesChanged: 0 } };
    expect(decide(loopWith(), silent, []).verdict?.because).toContain(
      'work: this agent reports no tool calls',
    );
    expect(decide(loopWith({}, { minToolCalls: null }), silent, []).verdict?.accepted).toBe(true);
  });

  it.each([failed, { ...failed, end: 'timed-out' }, { ...failed, end: 'inactive' }] as Turn[])(
    'rejects a claim in a turn that ended as $end',
    (turn) => {
      const { verdict } = decide(loopWith(), { ...turn, text: [tag] }, []);
      expect(verdict?.accepted).toBe(false);
      expect(verdict?.because).toMatch(/^turn: /);
    },
  );

  it('rejects a claim whose guardrail fails, and feeds the output back once', () => {
    const first = decide(loopWith(), claimed, [testsFail]);
    expect(first.verdict?.because).toBe('guardrail: npm test: exit code 1');
    expect(composePrompt(first.loop)).toBe('Fix the bug\n\nGuardrail "npm test" failed with exit code 1.');
    expect(composePrompt(decide(first.loop, worked, []).loop)).toBe('Fix the bug');
  });

  it('feeds a failing guardrail back without a claim too', () => {
    const { decision } = decide(loopWith(), worked, [testsFail]);
    expect(decision).toMatchObject({ kind: 'continue', because: { code: 'checks-failed' } });
  });

  it('answers a mention with how to claim', () => {
    const { loop, decision, verdict } = decide(
      loopWith(),
      { ...worked, text: [`I will not output ${tag} yet.`] },
      [],
    );
    expect(verdict).toBeUndefined();
    expect(decision).toMatchObject({ kind: 'continue', because: { code: 'mention' } });
    expect(composePrompt(loop)).toContain('put the tag alone on a line');
  });

  it('tells an almost right tag from a mention', () => {
    const { decision } = decide(loopWith(), { ...worked, text: ['<promise>done</promise>'] }, []);
    expect(decision).toMatchObject({
      kind: 'continue',
      because: { code: 'mention', text: 'a tag was almost right: "<promise>done</promise>"' },
    });
  });

  it('ends for a human with the words kept', () => {
    const blocked = decide(loopWith(), { ...worked, text: ['<promise>BLOCKED: no key</promise>'] }, []);
    expect(blocked.decision).toEqual({
      kind: 'stop',
      outcome: 'BLOCKED',
      because: { code: 'blocked', text: 'no key' },
    });
    const asks = decide(loopWith(), { ...worked, text: ['<promise>DECIDE: a or b?</promise>'] }, []);
    expect(asks.decision).toMatchObject({ outcome: 'NEEDS_DECISION', because: { text: 'a or b?' } });
  });
});

describe('decide on failures and limits', () => {
  it('backs off 1, 2, 4, 8 seconds and stops at the fifth failure in a row', () => {
    let loop = loopWith();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      const decided = decide(loop, failed, []);
      if (decided.decision.kind === 'wait') waits.push(decided.decision.ms);
      loop = decided.loop;
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
    expect(decide(loop, failed, []).decision).toMatchObject({
      outcome: 'AGENT_FAILED',
      because: { code: 'failures' },
    });
  });

  it('calls an agent that fails again and again failed, not stuck, whatever it changes', () => {
    const idle: Turn = { ...failed, toolCalls: 0, progress: { commits: 0, filesChanged: 0 } };
    let loop = loopWith();
    for (let i = 0; i < 4; i++) loop = decide(loop, idle, []).loop;
    expect(decide(loop, idle, []).decision).toMatchObject({ outcome: 'AGENT_FAILED' });
  });

  it('adds up its waits against what it may wait', () => {
    const turn: Turn = {
      ...failed,
      end: 'limited',
      limit: { kind: 'usage', resetsAt: 1_000_000 + 2_000_000 },
    };
    const first = decide(loopWith(), turn, []);
    expect(first.decision.kind).toBe('wait');
    expect(decide(first.loop, turn, []).decision).toMatchObject({ outcome: 'USAGE_LIMIT' });
  });

  it('spreads the tries of two loops over an overloaded provider', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'overload' } };
    const waits = ['a', 'b'].map((id) => {
      let loop = loopWith({}, { id });
      for (let i = 0; i < 8; i++) loop = decide(loop, turn, []).loop;
      return loop.waitedMs;
    });
    expect(waits[0]).not.toBe(waits[1]);
  });

  it('forgets failures after a good turn', () => {
    const { loop } = decide(decide(loopWith(), failed, []).loop, worked, []);
    expect(loop.failures).toBe(0);
  });

  it('waits for a usage limit to reset and runs the same iteration again', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'usage', resetsAt: 1_000_000 + 60_000 } };
    const { loop, decision } = decide(loopWith(), turn, []);
    expect(decision).toMatchObject({ kind: 'wait', ms: 60_000, because: { code: 'usage-limit' } });
    expect(loop).toMatchObject({ iteration: 1, failures: 0, waitedMs: 60_000 });
  });

  it('waits longer and longer for a usage limit whose end the agent does not tell', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'usage' } };
    const first = decide(loopWith(), turn, []);
    expect(first.decision).toMatchObject({ kind: 'wait', ms: 64_000, because: { code: 'usage-limit' } });
    expect(decide(first.loop, turn, []).decision).toMatchObject({ kind: 'wait', ms: 128_000 });
  });

  it('waits longer and longer for a usage limit that holds on after its time', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'usage', resetsAt: 1_000_000 - 5000 } };
    let loop = loopWith();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      const decided = decide(loop, turn, []);
      if (decided.decision.kind === 'wait') waits.push(decided.decision.ms);
      loop = decided.loop;
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
  });

  it('stops when the limit lasts longer than it may wait', () => {
    const turn: Turn = {
      ...failed,
      end: 'limited',
      limit: { kind: 'usage', resetsAt: 1_000_000 + 7_200_000 },
    };
    const { decision } = decide(loopWith(), turn, []);
    expect(decision).toMatchObject({ outcome: 'USAGE_LIMIT', because: { code: 'usage-limit' } });
    expect(decision.because.text).toContain('; waiting until 02:16 UTC (2h) would pass the allowed ');
  });

  it('waits longer and longer for an overloaded provider without using up failures or iterations', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'overload' } };
    let loop = loopWith();
    let last = 0;
    for (let i = 0; i < 8; i++) {
      const decided = decide(loop, turn, []);
      expect(decided.decision.kind).toBe('wait');
      last = decided.decision.kind === 'wait' ? decided.decision.ms : 0;
      loop = decided.loop;
    }
    expect(last).toBeGreaterThanOrEqual(64_000);
    expect(loop).toMatchObject({ iteration: 1, failures: 0 });
  });

  it.each(['auth', 'quota'] as const)('stops at once on %s', (kind) => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind } };
    expect(decide(loopWith(), turn, []).decision).toMatchObject({
      outcome: 'AGENT_FAILED',
      because: { code: kind },
    });
  });

  it('starts afresh when the context was full', () => {
    const turn: Turn = { ...failed, end: 'limited', limit: { kind: 'context' } };
    const { loop, decision } = decide(loopWith(), turn, []);
    expect(loop.iteration).toBe(2);
    expect(decision).toMatchObject({ kind: 'wait', because: { code: 'context' } });
    const last = { ...loopWith(), failures: loop.plan.limits.failures - 1 };
    expect(decide(last, turn, []).decision).toMatchObject({
      outcome: 'AGENT_FAILED',
      because: { code: 'context', text: expect.stringMatching(/^the context of the agent is full; /) },
    });
  });

  it('keeps the feedback for a turn that broke off', () => {
    const { loop } = decide(loopWith(), worked, [testsFail]);
    expect(composePrompt(decide(loop, failed, []).loop)).toContain('Guardrail "npm test"');
  });
});

describe('decide on stopping', () => {
  it('stops at the last iteration', () => {
    expect(decide(loopWith({ iterations: 1 }), worked, []).decision).toMatchObject({
      outcome: 'MAX_ITERATIONS_REACHED',
    });
  });

  it('says so if the last iteration failed', () => {
    const reason = (turn: Turn) => decide(loopWith({ iterations: 1 }), turn, []).decision.because.text;
    expect(reason(worked)).toBe('1 iteration is used up');
    expect(reason(failed)).toBe('1 iteration is used up; the last one failed: boom');
    expect(reason({ ...worked, end: 'failed', exitCode: null })).toBe(
      '1 iteration is used up; the last one failed: for an unknown reason',
    );
  });

  it.each([
    [{ wallMs: 1000 }, 'budget-time'],
    [{ tokens: 100 }, 'budget-tokens'],
    [{ costUsd: 0.5 }, 'budget-cost'],
    [{ iterationTokens: 100 }, 'budget-tokens'],
    [{ iterationCostUsd: 0.5 }, 'budget-cost'],
  ] as const)('stops when %j is spent', (change, code) => {
    const usage = {
      inputTokens: 90,
      outputTokens: 10,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0.5,
    };
    const { decision } = decide(loopWith(change), { ...worked, usage }, []);
    expect(decision).toMatchObject({ outcome: 'BUDGET_SPENT', because: { code } });
  });

  it('is stuck after three iterations that changed nothing', () => {
    const idle: Turn = { ...worked, progress: { commits: 0, filesChanged: 0 } };
    const second = decide(decide(loopWith(), idle, []).loop, idle, []);
    expect(second.decision.kind).toBe('continue');
    expect(decide(second.loop, idle, []).decision).toMatchObject({
      outcome: 'STUCK',
      because: { code: 'no-progress' },
    });
  });

  it('is stuck after three turns without a tool call, even if something changed', () => {
    const silent: Turn = { ...worked, toolCalls: 0 };
    const { loop } = decide(decide(loopWith(), silent, []).loop, silent, []);
    expect(decide(loop, silent, []).decision).toMatchObject({
      outcome: 'STUCK',
      because: { code: 'no-tool-calls' },
    });
  });

  it('is stuck when the same error comes again and again, figures aside', () => {
    let loop = loopWith();
    let decision = decide(loop, worked, [testsFail]).decision;
    for (let i = 0; i < 5; i++) {
      const detail = {
        ...testsFail,
        feedback: { action: 'APPEND', text: `1 test failed in ${i} ms` },
      } as const;
      ({ loop, decision } = decide(loop, worked, [detail]));
    }
    expect(decision).toMatchObject({ outcome: 'STUCK', because: { code: 'same-error' } });
  });

  it('stops when the turn was aborted', () => {
    expect(decide(loopWith(), { ...claimed, end: 'aborted' }, []).decision).toMatchObject({
      outcome: 'INTERRUPTED',
    });
  });
});

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  text: fc.array(fc.oneof(fc.constantFrom(tag, `I will not output ${tag} yet.`, 'working'), fc.string()), {
    maxLength: 3,
  }),
  toolCalls: fc.option(fc.nat(3)),
  end: fc.constantFrom('finished', 'failed', 'timed-out', 'inactive', 'empty'),
  exitCode: fc.option(fc.nat(3)),
  progress: fc.record({ commits: fc.nat(1), filesChanged: fc.nat(2) }),
  endedAt: fc.nat(),
  durationMs: fc.nat(1000),
});

describe('decide for any turns', () => {
  it('never exceeds the iterations, and always ends', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(anyTurn, { minLength: 8, maxLength: 8 }),
        (max, turns) => {
          let loop = loopWith({ iterations: max });
          for (const turn of turns) {
            const decided = decide(loop, turn, []);
            loop = decided.loop;
            expect(loop.iteration).toBeLessThanOrEqual(max);
            if (decided.decision.kind === 'stop') return;
          }
          expect.unreachable('the loop went on past its last iteration');
        },
      ),
    );
  });

  it('keeps its state through JSON', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 5 }), fc.string(), (turns, task) => {
        let loop = newLoop(aPlan(), task);
        for (const turn of turns) {
          const copy = JSON.parse(JSON.stringify(loop)) as LoopState;
          expect(copy).toEqual(loop);
          expect(decide(copy, turn, [])).toEqual(decide(loop, turn, []));
          loop = decide(loop, turn, []).loop;
        }
      }),
    );
  });

  it('gives the task back byte for byte in the next prompt, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(anyTurn, { maxLength: 3 }), (text, turns) => {
        const task = `${text}$& $1 {{PROMISE}} \${x} $(rm) \`id\` 🎉\n${text}`;
        let loop = newLoop(aPlan(), task);
        for (const turn of turns) {
          const decided = decide(loop, turn, [testsFail]);
          loop = decided.loop;
          if (decided.decision.kind !== 'stop') expect(composePrompt(loop).startsWith(task)).toBe(true);
        }
        expect(composePrompt(loop).includes(task)).toBe(true);
      }),
    );
  });
});

import type { Outcome } from '../../../src/core/outcome.ts';
import { createRalphLoopHook } from '../../../src/drive/embed/hook.ts';
import type { HostMessage } from '../../../src/drive/embed/host-messages.ts';
import { createFakeClock } from '../../../src/testkit/index.ts';
import { type Driver, type End, task, token } from '../case.ts';
import { openSession } from './session.ts';

const noFigures = 'seed 004: the host tells no tokens and no cost';
const ownAgent = 'the host starts the agent, and ends it';
const onlyPromise = 'seed 004: done is the promise';
const noChecks = 'seed 004: a promise is not checked by commands';
const recoveryMs = 5000;
const continuationMs = 500;

/** The embedded hook (seed 004) in a host of one session. */
export const embed: Driver = {
  differences: [
    {
      source: 'seed 004',
      what: 'the host tells nothing of files and checks: only turns without a tool call are stuck',
      plan: (plan) => ({ ...plan, limits: { ...plan.limits, withoutProgress: 0, sameError: 0 } }),
    },
    {
      source: 'seed 004',
      what: 'a session that says something after an error has recovered',
      turn: (turn) => (turn.end === 'failed' && turn.text.length > 0 ? { ...turn, end: 'finished' } : turn),
    },
  ],
  lacks: {
    noGoal: onlyPromise,
    maxTokens: noFigures,
    maxIterationTokens: noFigures,
    maxCost: noFigures,
    maxIterationCost: noFigures,
    idleTimeout: ownAgent,
    iterationTimeout: ownAgent,
    busy: 'seed 004: each session has a loop of its own',
    'prompt file gone': 'seed 004: the task is a part of the call',
    'agent gone': ownAgent,
    maxTime: 'seed 004: a loop is bound by its iterations alone',
    response: onlyPromise,
    pattern: onlyPromise,
    guardrail: noChecks,
    verify: noChecks,
    maxWait: 'seed 004: an error of the host is an error, of whichever kind',
    'provider limit': 'seed 004: an error of the host is an error, of whichever kind',
    interrupt: 'seed 004: an abort clears the loop without an end to tell',
  },
  async play(played) {
    const {
      maxIterations,
      match = 'claim',
      minToolCalls = 1,
      stuckAfter = 3,
      maxFailures = 5,
    } = played.settings;
    const session = await openSession(played);
    const clock = createFakeClock();
    const messages: HostMessage[] = [];
    const prompts = [task];
    let end: End | undefined;
    const loop = createRalphLoopHook({
      workdir: session.cwd,
      clock,
      config: { match, minToolCalls, maxTurnsWithoutTools: stuckAfter, maxFailures },
      getMessages: async () => messages,
      injectPrompt: async (_, prompt) => {
        prompts.push(prompt);
        messages.push({ role: 'user', content: prompt });
      },
      log: {
        info(line, data) {
          const [, outcome, text] = /^\[ralph-loop\] ([A-Z_]+): (.*)$/s.exec(line) ?? [];
          if (outcome)
            end = { outcome: outcome as Outcome, iterations: Number(data?.iteration), text: text ?? '' };
        },
        warn() {},
        error() {},
      },
    });
    loop.startLoop('s', task, { maxIterations, completionPromise: token });
    for (let prompt = prompts.shift(); prompt !== undefined; prompt = prompts.shift()) {
      const turn = await session.turn(prompt);
      for (const { message, parent_tool_use_id } of turn.messages)
        if (parent_tool_use_id === null) messages.push(message);
      if (turn.error !== null)
        await loop.handler({
          event: 'session.error',
          sessionId: 's',
          data: { error: { message: turn.error } },
        });
      await loop.handler({ event: 'session.idle', sessionId: 's' });
      await clock.advance(recoveryMs);
      await clock.advance(continuationMs);
    }
    loop.dispose();
    if (end === undefined) throw new Error('the loop did not end');
    return end;
  },
};

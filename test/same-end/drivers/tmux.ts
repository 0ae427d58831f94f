import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeFleet } from '../../fleet/swarm/fleet.ts';
import { type Driver, tag, task } from '../case.ts';
import { playWorker } from './worker.ts';

const noFigures = 'seed 003: a screen tells no tokens and no cost';
const noChecks = 'seed 003: a plain worker runs no commands of its own';

/** A plain worker in tmux (seed 003), whose done pattern is the tag. */
export const tmux: Driver = {
  differences: [
    {
      source: 'seed 003',
      what: 'done is a match of the pattern in what was printed, whatever stands around it',
      plan: ({ completion: { promise, pattern }, ...plan }) => ({
        ...plan,
        completion: promise ? { pattern: tag } : pattern === undefined ? {} : { pattern },
        minToolCalls: null,
      }),
      turn: (turn) => ({
        ...turn,
        text: [],
        toolCalls: null,
        allRefused: false,
        patternMatched: turn.patternMatched ?? turn.text.at(-1)?.includes(tag) ?? false,
      }),
    },
    {
      source: 'seed 003',
      what: 'a match counts whatever the exit code',
      turn: ({ error: _error, ...turn }) => (turn.patternMatched ? { ...turn, end: 'finished' } : turn),
    },
    {
      source: 'seed 003',
      what: 'five failures in a row end the loop, and nothing is stuck',
      plan: (plan) => ({
        ...plan,
        limits: { ...plan.limits, failures: 5, withoutProgress: 0, withoutTools: 0, sameError: 0 },
      }),
    },
    {
      source: 'seed 003',
      what: 'a loop with nothing to reach is complete after its iterations, with exit code 0',
      end: (end, { pattern }) => (pattern === undefined ? { ...end, exitCode: 0 } : end),
    },
  ],
  lacks: {
    maxTokens: noFigures,
    maxIterationTokens: noFigures,
    maxCost: noFigures,
    maxIterationCost: noFigures,
    iterationTimeout: 'seed 003: an iteration ends by silence, not after a time',
    busy: 'seed 003: workers share a folder, or have worktrees of their own',
    'agent gone': 'seed 003: a command that does not start is a failed iteration',
    maxTime: 'seed 003: a loop is bound by its iterations alone',
    minToolCalls: 'seed 003: a screen tells no tool calls',
    response: 'seed 003: done is a pattern',
    guardrail: noChecks,
    verify: noChecks,
    maxWait: 'seed 003: a loop waits for as long as it takes',
    'provider limit': 'seed 003: a loop waits for as long as it takes, and knows no other limit',
    interrupt: 'seed 003: a worker is paused or killed, and nobody interrupts its turn',
  },
  async play({ settings: { maxIterations, noGoal, pattern = tag, idleTimeout }, turns }) {
    const fleet = makeFleet({ files: { 'PROMPT.md': task } });
    await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns } });
    const goal = noGoal ? [] : ['--done-pattern', pattern];
    const silence = idleTimeout ? ['--inactivity-timeout', `${idleTimeout}`] : [];
    const options = ['--max-iterations', `${maxIterations}`, ...goal, ...silence];
    return playWorker(fleet, ['claude', '-p'], options);
  },
};

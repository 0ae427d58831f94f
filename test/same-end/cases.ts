import type { ScriptTurn } from '../../src/testkit/index.ts';
import { type Case, finish, look, removeAgent, removePrompt, tag, token, work } from './case.ts';

const more = { steps: [work, { text: 'More to do.' }] };
const done = { steps: [finish, { text: tag }] };
const fails: ScriptTurn = { steps: [{ stderr: 'boom' }], exitCode: 1 };
const hangs: ScriptTurn = { steps: [{ text: 'Working.' }, { hang: true }] };
const overloaded: ScriptTurn = { steps: [{ error: { status: 529, message: 'Overloaded' } }] };
const denied = { tool: { name: 'Bash', input: { command: 'rm x' }, output: 'Permission denied', ok: false } };
const inTwoDays = Math.floor(Date.now() / 1000) + 2 * 86_400;

const claims = {
  'alone on its line, with a note behind it': `**${tag}**\n\nNote: run the migrations before you deploy.`,
  'behind a finished sentence': `All 12 tests pass. ${tag}`,
  'announced as the last thing said': `As instructed, here is the completion promise:\n\n${tag}`,
  'behind a word that tells completion': `Task finished ${tag}`,
};

const mentions = [
  `I will not output ${tag} yet.`,
  `Once every test passes I'll print ${tag}.`,
  `The contract asks for \`${tag}\` at the end, so I keep going.`,
  `When finished I will print:\n${tag}\nLet me begin.`,
  'I could print <promise>BLOCKED: no key</promise> but I found it.',
  '<promise>complete</promise>',
];

/** Text with the tag that is not the assistant's own. */
const foreign = [
  { tool: { name: 'Bash', input: { command: 'cat x' }, output: tag } },
  { thinking: `Soon ${tag}` },
  { echoPrompt: true as const },
  { subagent: { text: `Done.\n${tag}` } },
];

export const cases: readonly Case[] = [
  // When is it done?
  ...Object.entries(claims).map(([form, text]) => ({
    name: `a claim ${form} is accepted`,
    settings: { maxIterations: 3 },
    turns: [{ steps: [finish, { text }] }],
    ends: ['PROMISE_ACCEPTED', 1] as const,
  })),
  {
    name: 'a tag split over two events is a claim',
    settings: { maxIterations: 3 },
    turns: [{ steps: [finish, { deltas: ['All done.\n<promise>COMP', 'LETE</promise>'] }] }],
    ends: ['PROMISE_ACCEPTED', 1],
  },
  {
    name: 'a claim on the last iteration is accepted',
    settings: { maxIterations: 2 },
    turns: [more, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a mention does not end the loop, whatever its form',
    settings: { maxIterations: 1 },
    turns: [{ steps: [work, ...mentions.map((text) => ({ text }))] }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },
  {
    name: 'a tag that is not in the own text of the agent does not end the loop',
    settings: { maxIterations: 1 },
    turns: [{ steps: [work, ...foreign, { text: 'Still at it.' }] }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },
  {
    name: 'a mention is enough where any occurrence counts',
    settings: { maxIterations: 2, match: 'substring' },
    turns: [{ steps: [finish, { text: `I will not output ${tag} yet.` }] }],
    ends: ['PROMISE_ACCEPTED', 1],
  },
  {
    name: 'another case and spacing is enough where the match is lenient',
    settings: { maxIterations: 2, match: 'lenient' },
    turns: [{ steps: [finish, { text: `<promise> ${token.toLowerCase()} </promise>` }] }],
    ends: ['PROMISE_ACCEPTED', 1],
  },
  {
    name: 'a response in another case is a claim',
    settings: { maxIterations: 1, response: true },
    turns: [{ steps: [finish, { text: `<response>${token.toLowerCase()}</response>` }] }],
    ends: ['PROMISE_ACCEPTED', 1],
  },
  {
    name: 'a match of the done pattern is a claim',
    settings: { maxIterations: 3, pattern: 'All \\d+ tasks complete' },
    turns: [more, { steps: [finish, { text: 'All 12 tasks complete' }] }],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a task that is finished without a claim goes on',
    settings: { maxIterations: 1 },
    turns: [{ steps: [finish, { text: 'I am done.' }] }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },

  // A claim needs evidence.
  {
    name: 'a claim without a tool call is rejected',
    settings: { maxIterations: 3 },
    turns: [{ steps: [{ text: tag }] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a claim after a call that was denied is rejected: that is no work',
    settings: { maxIterations: 3 },
    turns: [{ steps: [denied, { text: tag }] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a loop whose calls are all denied ends for a human',
    settings: { maxIterations: 5 },
    turns: [{ steps: [denied, { text: 'I may not.' }] }],
    ends: ['BLOCKED', 2],
  },
  {
    name: 'a claim with too few tool calls is rejected',
    settings: { maxIterations: 3, minToolCalls: 3 },
    turns: [{ steps: [work, { text: tag }] }, { steps: [work, finish, { text: tag }] }],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a claim is rejected while the guardrail fails',
    settings: { maxIterations: 3, guardrail: true },
    turns: [{ steps: [work, { text: tag }] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a claim is rejected while the verify command fails',
    settings: { maxIterations: 3, verify: true },
    turns: [{ steps: [work, { text: tag }] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a claim whose check fails on the last iteration is no success',
    settings: { maxIterations: 1, verify: true },
    turns: [{ steps: [work, { text: tag }] }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },
  {
    name: 'a claim in a turn that ended with exit code 1 is rejected',
    settings: { maxIterations: 1 },
    turns: [{ steps: [finish, { text: tag }], exitCode: 1 }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },
  {
    name: 'a claim in a turn that reported a failure is rejected',
    settings: { maxIterations: 1 },
    turns: [{ steps: [finish, { text: tag }, { result: { ok: false } }], exitCode: 0 }],
    ends: ['MAX_ITERATIONS_REACHED', 1],
  },

  // Ends for a human.
  {
    name: 'a blocked agent ends the loop',
    settings: { maxIterations: 3 },
    turns: [
      { steps: [work, { text: 'The key is missing.\n<promise>BLOCKED: no key for the API</promise>' }] },
    ],
    ends: ['BLOCKED', 1],
  },
  {
    name: 'a question for a human ends the loop',
    settings: { maxIterations: 3 },
    turns: [more, { steps: [work, { text: '<promise>DECIDE: tabs or spaces?</promise>' }] }],
    ends: ['NEEDS_DECISION', 2],
  },
  {
    name: 'a question after a claim comes first',
    settings: { maxIterations: 3 },
    turns: [{ steps: [finish, { text: tag }, { text: '<promise>DECIDE: tabs or spaces?</promise>' }] }],
    ends: ['NEEDS_DECISION', 1],
  },

  // Limits and budgets.
  {
    name: 'without a claim the iterations run out',
    settings: { maxIterations: 2 },
    turns: [more],
    ends: ['MAX_ITERATIONS_REACHED', 2],
  },
  {
    name: 'a loop with nothing to reach is complete after its iterations',
    settings: { maxIterations: 2, noGoal: true },
    turns: [more],
    ends: ['MAX_ITERATIONS_REACHED', 2],
  },
  {
    name: 'a loop with nothing to reach says that its last iteration failed',
    settings: { maxIterations: 2, noGoal: true },
    turns: [more, fails],
    ends: ['MAX_ITERATIONS_REACHED', 2],
  },
  {
    name: 'the tokens run out',
    settings: { maxIterations: 9, maxTokens: 3000 },
    turns: [more],
    ends: ['BUDGET_SPENT', 2, 'budget-tokens'],
  },
  {
    name: 'the tokens of one iteration run out',
    settings: { maxIterations: 9, maxIterationTokens: 1000 },
    turns: [more],
    ends: ['BUDGET_SPENT', 1, 'budget-tokens'],
  },
  {
    name: 'the money runs out',
    settings: { maxIterations: 9, maxCost: 0.005 },
    turns: [more],
    ends: ['BUDGET_SPENT', 1, 'budget-cost'],
  },
  {
    name: 'the money of one iteration runs out',
    settings: { maxIterations: 9, maxIterationCost: 0.005 },
    turns: [more],
    ends: ['BUDGET_SPENT', 1, 'budget-cost'],
  },
  {
    name: 'the time runs out',
    settings: { maxIterations: 9, maxTime: 1 },
    turns: [more],
    ends: ['BUDGET_SPENT', 1, 'budget-time'],
  },
  {
    name: 'the time runs out while the loop waits after a failure',
    settings: { maxIterations: 9, maxTime: 3000 },
    turns: [fails],
    isTimed: true,
    ends: ['BUDGET_SPENT', 3, 'budget-time'],
  },

  // Stuck.
  {
    name: 'turns that change nothing are stuck',
    settings: { maxIterations: 3, stuckAfter: 2 },
    turns: [{ steps: [look, { text: 'Hm.' }] }],
    ends: ['STUCK', 2, 'no-progress'],
  },
  {
    name: 'turns without a tool call are stuck',
    settings: { maxIterations: 3, stuckAfter: 2 },
    turns: [{ steps: [{ text: 'Hm.' }] }],
    ends: ['STUCK', 2, 'no-progress'],
  },
  {
    name: 'the same failed check again and again is stuck',
    settings: { maxIterations: 3, stuckAfter: 1, guardrail: true },
    turns: [more],
    ends: ['STUCK', 2, 'same-error'],
  },

  // Failures.
  {
    name: 'failed turns in a row end the loop',
    // More than the five of a plain worker: no supervisor may count on its own.
    settings: { maxIterations: 9, maxFailures: 6 },
    turns: [fails],
    ends: ['AGENT_FAILED', 6, 'failures'],
  },
  {
    name: 'a failed turn is followed by another try',
    settings: { maxIterations: 9, maxFailures: 2 },
    turns: [fails, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'a turn without a word is an iteration like any other',
    settings: { maxIterations: 2 },
    turns: [{ steps: [] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },

  {
    name: 'an agent that is silent for too long is a failed turn',
    settings: { maxIterations: 3, idleTimeout: 3 },
    turns: [hangs, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },
  {
    name: 'an agent that takes too long is a failed turn',
    settings: { maxIterations: 3, iterationTimeout: 3 },
    turns: [hangs, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },

  // The next iteration cannot begin.
  {
    name: 'a loop cannot begin where another one runs',
    settings: { maxIterations: 3, busy: true },
    turns: [done],
    ends: ['LOOP_FAILED', 0, 'already-running'],
  },
  {
    name: 'a prompt file that is gone ends the loop',
    settings: { maxIterations: 3 },
    turns: [{ steps: [removePrompt, { text: 'More to do.' }] }],
    ends: ['LOOP_FAILED', 1, 'prompt-file'],
  },
  {
    name: 'an agent whose program is gone ends the loop',
    settings: { maxIterations: 3 },
    turns: [{ steps: [removeAgent, { text: 'More to do.' }] }],
    ends: ['AGENT_FAILED', 1, 'agent-missing'],
  },

  // Limits of the provider.
  {
    name: 'an overloaded provider is waited for, and the same iteration is run again',
    settings: { maxIterations: 1 },
    turns: [overloaded, done],
    ends: ['PROMISE_ACCEPTED', 1],
  },
  {
    name: 'a usage limit that lasts longer than the loop may wait ends it',
    settings: { maxIterations: 3, maxWait: 60 },
    turns: [{ steps: [{ error: { status: 429, message: 'You have hit your limit', resetsAt: inTwoDays } }] }],
    ends: ['USAGE_LIMIT', 1],
  },
  {
    name: 'an agent that is logged out ends the loop',
    settings: { maxIterations: 3 },
    turns: [{ steps: [{ error: { status: 401, message: 'Please run /login' } }] }],
    ends: ['AGENT_FAILED', 1, 'auth'],
  },
  {
    name: 'an account without credit ends the loop',
    settings: { maxIterations: 3 },
    turns: [{ steps: [{ error: { status: 402, message: 'Credit balance is too low' } }] }],
    ends: ['AGENT_FAILED', 1, 'quota'],
  },
  {
    name: 'a full context is a failed turn, and the next one starts afresh',
    settings: { maxIterations: 3 },
    turns: [{ steps: [{ error: { status: 400, message: 'Prompt is too long' } }] }, done],
    ends: ['PROMISE_ACCEPTED', 2],
  },

  // Interrupted.
  {
    name: 'a turn that somebody interrupts ends the loop',
    settings: { maxIterations: 3 },
    turns: [hangs],
    ends: ['INTERRUPTED', 1],
  },
];

/** Cases whose loops wait, mostly after a failure. They have a test file of their own, which runs beside the others. */
export const waitingCases = cases.filter(({ turns }) =>
  turns.some((turn) => [fails, hangs, overloaded].includes(turn)),
);

/** What happened in a turn, in the words of no host. */
export type Happening =
  | { readonly say: string }
  | { readonly think: string }
  /** A call of a tool, what it printed, and whether it failed or was denied. */
  | { readonly tool: string; readonly prints?: string; readonly fails?: true }
  | { readonly user: string }
  | { readonly subagent: string }
  | { readonly notification: string }
  | { readonly apiError: string }
  | { readonly summary: string };

/** How the last of the stops has to end: sent back to work, or with this outcome. */
type Expected = { readonly goesOn: string } | { readonly ends: string; readonly because?: string };

export type StopCase = {
  readonly name: string;
  /** What stands after `/ralph-loop`. */
  readonly args?: string;
  readonly turns: readonly (readonly Happening[])[];
  readonly expected: Expected;
};

const done = '<promise>DONE</promise>';
const work: Happening = { tool: 'npm test', prints: 'ok' };
const refused: Happening = { tool: 'rm x', prints: 'Tool call blocked by a hook: denied', fails: true };
const missing = { goesOn: 'you did not output the completion promise <promise>DONE</promise>' };
const mention = { goesOn: 'put the tag alone on a line' };
const noWork = { goesOn: 'Promise detected, but no tool calls/work were performed' };
const accepted = { ends: 'PROMISE_ACCEPTED' };

/** One turn, and how the stop after it ends. */
function row(name: string, turn: readonly Happening[], expected: Expected, args?: string): StopCase {
  return { name, turns: [turn], expected, ...(args === undefined ? {} : { args }) };
}

/** What every host of an in-session loop has to decide alike. */
export const stopCases: readonly StopCase[] = [
  // The five acceptance tests of the in-session loop.
  row('Stops on promise', [work, { say: done }], accepted),
  row('Blocks exit without promise', [work, { say: "I'm done" }], missing),
  {
    name: 'Max iterations',
    args: '"fix it" --max-iterations 2',
    turns: [
      [work, { say: 'one' }],
      [work, { say: 'two' }],
      [work, { say: 'three' }],
    ],
    expected: { ends: 'MAX_ITERATIONS_REACHED', because: '2 iterations are used up' },
  },
  row('Bypass rejected', [{ say: done }], noWork),
  row('Promise detector correctness', [work, { say: 'All of it works now.' }, { say: done }], accepted),

  // Real promises in odd places.
  row('a promise at the end of a sentence', [work, { say: `All tests pass. ${done}` }], accepted),
  row('a promise with text after it', [work, { say: `${done}\n\nThe report is in docs/.` }], accepted),
  row('a promise in bold', [work, { say: `**${done}**` }], accepted),
  row('a promise in a code fence', [work, { say: `\`\`\`\n${done}\n\`\`\`` }], accepted),
  row('a promise in an earlier block of the last message', [work, { say: done }, { say: 'Bye.' }], accepted),
  row('a promise before the last tool call', [work, { say: done }, work], accepted),
  row('a promise between CRLF lines', [work, { say: `Ready.\r\n${done}\r\n` }], accepted),
  row('a promise after an emoji', [work, { say: `🎉 ${done}` }], accepted),
  row('a promise that comes twice', [work, { say: `${done}\n${done}` }], accepted),
  row(
    'a mention first and the real one later',
    [work, { say: `I will not output ${done} yet.` }, work, { say: done }],
    accepted,
  ),
  row(
    'a promise of the user own words',
    [work, { say: '<promise>ALL GREEN 100%</promise>' }],
    accepted,
    'x --completion-promise "ALL GREEN 100%"',
  ),
  row(
    'a promise with characters of a pattern',
    [work, { say: '<promise>a.b*(c)</promise>' }],
    accepted,
    'x --completion-promise "a.b*(c)"',
  ),
  row('a promise on the last allowed iteration', [work, { say: done }], accepted, 'x --max-iterations 1'),
  row('a promise in a long answer', [work, { say: `${'All is well. '.repeat(5000)}\n${done}` }], accepted),

  // Promises in wrong places.
  row('a promise in thinking', [work, { think: done }, { say: 'Not yet.' }], missing),
  row('a promise in the output of a tool', [{ tool: 'cat x', prints: done }, { say: 'I read it.' }], missing),
  row(
    'a promise in the words of a tool call',
    [{ tool: `echo '${done}'` }, { say: 'I printed it.' }],
    missing,
  ),
  row('a promise of the user', [work, { user: `Say ${done} when done` }, { say: 'Yes.' }], missing),
  row('a promise of a subagent', [work, { subagent: done }, { say: 'The helper is back.' }], missing),
  row('a promise in a notification', [work, { notification: done }, { say: 'Noted.' }], missing),
  row('a promise in a message of the host', [work, { apiError: done }, { say: 'Again.' }], missing),
  row('a promise in the summary of a compaction', [work, { summary: done }, { say: 'Going on.' }], missing),
  row('a promise in another case', [work, { say: '<promise>done</promise>' }], {
    goesOn: 'differs from the completion tag',
  }),
  row('a promise with blanks inside', [work, { say: '<promise> DONE </promise>' }], {
    goesOn: 'differs from the completion tag',
  }),
  row('another promise', [work, { say: '<promise>FINISHED</promise>' }], missing),
  row('a promise without its end', [work, { say: '<promise>DONE' }], missing),
  row('the bare word', [work, { say: 'DONE' }], missing),
  row('a promise for later', [work, { say: `I will output ${done} when the tests pass.` }], mention),
  row('a refusal to promise', [work, { say: `I will not output ${done} yet, two tests fail.` }], mention),
  row(
    'a promise quoted in a sentence',
    [work, { say: `The rule says to print \`${done}\` at the end.` }],
    mention,
  ),
  row('nothing at all', [], missing),
  row('an empty answer', [work, { say: '' }], missing),

  // Matching as it was asked for.
  row(
    'a mention with substring matching',
    [work, { say: `I will not output ${done} yet.` }],
    accepted,
    'x --promise-match substring',
  ),
  row(
    'blanks and case with lenient matching',
    [work, { say: '<promise> done </promise>' }],
    accepted,
    'x --promise-match lenient',
  ),

  // Work.
  row(
    'too few tool calls',
    [work, { say: done }],
    { goesOn: '1 tool call succeeded, at least 3 wanted' },
    'x --min-tool-calls 3',
  ),
  row('enough tool calls', [work, work, work, { say: done }], accepted, 'x --min-tool-calls 3'),
  {
    name: 'tool calls of all turns',
    args: 'x --min-tool-calls 3',
    turns: [
      [work, work, { say: 'more' }],
      [work, { say: done }],
    ],
    expected: accepted,
  },
  {
    name: 'a promise without work after work of an earlier turn',
    turns: [[work, { say: 'more' }], [{ say: done }]],
    expected: accepted,
  },
  row(
    'thinking before a tool call is no call',
    [{ think: 'I list the files.' }, work, { say: done }],
    { goesOn: '1 tool call succeeded, at least 2 wanted' },
    'x --min-tool-calls 2',
  ),
  row(
    'words about calls of tools are no call',
    [work, { say: 'The log says {"type":"tool_use"}, {"type": "tool_use"}.' }, { say: done }],
    { goesOn: '1 tool call succeeded, at least 2 wanted' },
    'x --min-tool-calls 2',
  ),
  row('a call that failed is no work', [{ tool: 'rm x', fails: true }, { say: done }], noWork),
  row('a call that succeeded is work', [{ tool: 'rm x', fails: true }, work, { say: done }], accepted),
  {
    name: 'calls that were all refused, twice',
    turns: [
      [refused, { say: 'I may not.' }],
      [refused, refused, { say: 'No way.' }],
    ],
    expected: { ends: 'BLOCKED', because: 'every tool call was refused' },
  },
  row('calls that were all refused', [refused, { say: 'I may not.' }], { goesOn: 'ralph guard explain' }),
  {
    name: 'calls that failed without a refusal',
    turns: [
      [{ tool: 'rm x', prints: 'no such file', fails: true }, { say: 'a' }],
      [{ tool: 'rm x', prints: 'no such file', fails: true }, { say: 'b' }],
    ],
    expected: missing,
  },
  row('tool calls of a subagent are not its own', [{ subagent: 'I did a lot' }, { say: done }], noWork),
  row('no work where it is not looked at', [{ say: done }], accepted, 'x --on-promise-no-work accept'),
  row(
    'no work where it is only warned of',
    [{ say: done }],
    { ends: 'PROMISE_ACCEPTED', because: 'tool-calls: accepted with 0 tool calls, at least 1 wanted' },
    'x --on-promise-no-work warn',
  ),
  row('no work and no tool call wanted', [{ say: done }], accepted, 'x --min-tool-calls 0'),
  row('a rejected promise on the last iteration', [{ say: done }], noWork, 'x --max-iterations 1'),
  {
    name: 'an old promise that was rejected',
    turns: [[{ say: done }], [work, { say: 'Now I worked.' }]],
    expected: missing,
  },

  // Verified promises.
  row('a promise that is verified', [work, { say: done }], accepted, 'x --verify "exit 0"'),
  row(
    'a promise that fails its check',
    [work, { say: done }],
    { goesOn: 'which failed (exit code 3)' },
    'x --verify "exit 0" --verify "echo so wrong; exit 3"',
  ),
  row(
    'the output of a failed check is told',
    [work, { say: done }],
    { goesOn: 'so wrong' },
    'x --verify "echo so wrong; exit 3"',
  ),
  row(
    'a failed check does not hide missing work',
    [{ say: done }],
    { goesOn: 'no tool calls/work were performed' },
    'x --verify "exit 0"',
  ),
  row('nothing is verified without a promise', [work, { say: 'more' }], missing, 'x --verify "exit 3"'),

  // Ends for a human, limits, stalls.
  row('an agent that is blocked', [work, { say: '<promise>BLOCKED: no key</promise>' }], {
    ends: 'BLOCKED',
    because: 'no key',
  }),
  row('a question for a human', [work, { say: '<promise>DECIDE: tabs or spaces?</promise>' }], {
    ends: 'NEEDS_DECISION',
    because: 'tabs or spaces?',
  }),
  row('an empty word for a human', [work, { say: '<promise>BLOCKED: </promise>' }], {
    goesOn: 'which is no request to a human',
  }),
  {
    name: 'three turns without a tool call',
    turns: [[{ say: 'a' }], [{ say: 'b' }], [{ say: 'c' }]],
    expected: { ends: 'STUCK', because: '3 turns in a row without a tool call that succeeded' },
  },
  {
    name: 'a tool call between two idle turns',
    turns: [[{ say: 'a' }], [{ say: 'b' }], [work, { say: 'c' }], [{ say: 'd' }]],
    expected: missing,
  },
  {
    name: 'one iteration, then the end',
    args: 'x --max-iterations 1',
    turns: [
      [work, { say: 'a' }],
      [work, { say: 'b' }],
    ],
    expected: { ends: 'MAX_ITERATIONS_REACHED' },
  },
];

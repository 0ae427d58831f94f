// What scripts/record-screens.mjs does to bring an agent to the screens that are worth knowing, from the `screens` of its
// real.json. A case has the answers of the model, the steps, and what is added to the agent's setup: words, variables
// (null takes one away) and files. docs/adding-an-agent.md has the fields.
const hello = [{ blocks: [{ text: 'Hello.' }] }];
const said = [{ blocks: [{ text: 'The report is written.\n\n<promise>DONE</promise>' }] }];
const slow = [{ blocks: [{ text: 'Let me look.' }, { delay: 60_000 }, { text: 'Late.' }] }];
const tool = [
  { blocks: [{ text: 'I run the tests.' }, { shell: 'touch made.txt && sleep 60' }] },
  { blocks: [{ text: 'Done.' }] },
];
const limit = [{ limit: { seconds: 7200 } }];
const unauthorized = { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
const noAuth = [{ error: unauthorized, repeat: 50 }];

/** The cases of an agent by their names: those that all agents have, and its own. */
export function screenCases({
  ready,
  before = [],
  start,
  base = {},
  full = {},
  permission = {},
  only,
  cases = {},
}) {
  /** Steps with `before` and `ask` (types a prompt where `ready` shows the input) written out. */
  const steps = (list) =>
    list.flatMap(([kind, value]) => {
      if (kind === 'before') return before;
      return kind === 'ask' ? ask(ready, value) : [[kind, value]];
    });
  const begin = steps(start ?? [['before'], ['ask']]);
  const common = {
    ready: { steps: steps([['before'], ['see', ready], ['rest', 1500]]) },
    working: { answers: slow, steps: [...begin, ['rest', 8000]] },
    tool: { ...full, answers: tool, steps: [...begin, ['see', 'I run the'], ['rest', 5000]] },
    permission: permission && {
      answers: tool,
      steps: [...begin, ['see', 'Allow|Do you want|Would you like|Permission|Run this'], ['rest', 500]],
      ...permission,
    },
    finished: { ...full, answers: said, steps: [...begin, ['see', 'The report is'], ['rest', 3000]] },
    limit: { answers: limit, steps: [...begin, ['rest', 12_000]] },
    'logged-out': { answers: noAuth, steps: [...begin, ['rest', 12_000]] },
  };
  const wanted = Object.entries(common).filter(([name, each]) => each && (only?.includes(name) ?? true));
  const own = Object.entries(cases).map(([name, each]) => [name, { ...each, steps: steps(each.steps) }]);
  return Object.fromEntries(
    [...wanted, ...own].map(([name, { bare, ...each }]) => [
      name,
      { answers: hello, ...(bare ? {} : base), ...each },
    ]),
  );
}

function ask(ready, prompt = 'Write the report.') {
  return [
    ['see', ready],
    ['rest', 700],
    ['type', prompt],
    ['see', prompt.slice(0, 12)],
    ['rest', 500],
    ['press', 'Enter'],
  ];
}

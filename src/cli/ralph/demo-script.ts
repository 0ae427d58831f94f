export const demoTask = 'Make `node test.mjs` pass. Do not change the test.';

export const demoFiles = {
  'price.mjs': `export function total(items) {
  return items.reduce((sum, item) => sum + item.price, 0);
}
`,
  'test.mjs': `import assert from 'node:assert/strict';
import { total } from './price.mjs';

assert.equal(total([]), 0);
assert.equal(total([{ price: 2, count: 3 }]), 6, 'the count has to be taken into account');
assert.equal(total([{ price: 5 }]), 5, 'an item without a count is one item');
console.log('all tests pass');
`,
  '.ralph/settings.json': `{
  "agent": { "command": "claude", "permissions": "full" },
  "guardrails": [
    { "command": "node test.mjs", "failAction": "APPEND", "hint": "Change price.mjs, not the test." }
  ]
}
`,
};

const claim = '<promise>DONE</promise>';

/** Turn 1 claims without work, turn 2 works but breaks a case, turn 3 mends it. */
export const demoScript = {
  agent: 'claude' as const,
  turns: [
    { steps: [{ text: `The function looks fine to me.\n\n${claim}` }] },
    {
      steps: [
        { text: 'I did not do anything yet. Let me read the test and change the function.' },
        { shell: 'cat test.mjs' },
        {
          write: {
            path: 'price.mjs',
            content:
              'export function total(items) {\n  return items.reduce((sum, item) => sum + item.price * item.count, 0);\n}\n',
          },
        },
        { text: `The count is taken into account now.\n\n${claim}` },
      ],
    },
    {
      steps: [
        { text: 'The guardrail shows a case that I broke: an item without a count.' },
        {
          write: {
            path: 'price.mjs',
            content:
              'export function total(items) {\n  return items.reduce((sum, { price, count = 1 }) => sum + price * count, 0);\n}\n',
          },
        },
        { shell: 'node test.mjs' },
        { text: `All tests pass.\n\n${claim}` },
      ],
    },
  ],
};

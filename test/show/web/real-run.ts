import { type RepoWithAgent, repoWith, runArgs, show } from '../../support/agent.ts';
import { runRalph } from '../../support/ralph.ts';

const cart = `import { round } from './money.js';

/** Items that a customer wants to buy. */
export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return round(sum);
}

export function isEmpty(items) {
  return items.length === 0;
}
`;

const betterCart = cart
  .replace('sum += item.price;', 'sum += item.price * (item.count ?? 1);')
  .replace('return round(sum);', 'return round(sum); // in cents');

/** What a hostile agent might write, to see that all of it stays text. */
export const hostile = {
  markup: '<img src=x onerror="document.title=1"><script>document.title=1</script>',
  link: '[click me](javascript:document.title=1)',
  bidi: 'safe\u202etxt.exe',
};

/** A secret in the usual form of a token, made up here. */
export const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

const words = `## What I found

The total ignores the **count** of an item. I will

1. read \`src/cart.js\`,
2. take the count into account,
3. run the tests.

| file | change |
|---|---|
| src/cart.js | count |
| src/money.js | renamed |

\`\`\`js
const sum = items.length; // one line
\`\`\`

See [the docs](https://example.com/docs). ${hostile.markup} ${hostile.link} ${hostile.bidi}`;

const colours = String.raw`printf '\033[32m✓ passes\033[0m\n\033[31m✗ fails\033[0m\n'`;

/** A real run of the built command with a scripted agent: two iterations in a real repository, with snapshots. */
export async function realRun(): Promise<RepoWithAgent & { readonly run: string }> {
  const repo = await repoWith(
    [
      {
        steps: [
          { text: words },
          { shell: 'cat src/cart.js' },
          { write: { path: 'src/cart.js', content: betterCart } },
          { write: { path: 'src/added/tax.js', content: 'export const tax = 0.19;\n' } },
          { shell: `${colours}; seq 1 80; echo token=${secret}` },
          { shell: 'false' },
          { text: 'The first half is done.' },
        ],
      },
      {
        steps: [
          { shell: 'git mv src/money.js src/rounding.js && rm src/old.js' },
          { write: { path: 'src/added/tax.js', content: 'export const tax = 0.07;\n' } },
          { text: 'All done.\n\n<promise>DONE</promise>' },
        ],
      },
    ],
    { guardrails: [{ command: 'test -f src/cart.js', failAction: 'APPEND' }] },
    {
      files: {
        'src/cart.js': cart,
        'src/money.js':
          'export function round(sum) {\n  return Math.round(sum);\n}\n// money\n// is\n// fun\n',
        'src/old.js': 'export const old = 1;\n',
      },
    },
  );
  await runRalph(runArgs(4), repo);
  const { run } = await show(repo);
  return { ...repo, env: { ...repo.env, SWARM_HOME: `${repo.home}/swarm` }, run };
}

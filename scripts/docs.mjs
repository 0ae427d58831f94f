// The parts of the documents that are made from the source. `node scripts/docs.mjs` writes them, `--check` only says what is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSource } from './load-source.mjs';
import { settingsJsonSchema } from './settings-json-schema.mjs';

/** What each event of the journal tells; its fields come from the type. */
const eventMeanings = {
  'run.started': 'the run began, with everything that stays the same for it',
  'run.resumed': 'the same run goes on, in another process',
  'iteration.started': 'an iteration began',
  'prd.iteration': 'what this iteration of a PRD is for, and how its stories stand before it',
  'prd.checked': 'the task list after the turn; a change that the mode does not allow was undone',
  'sandbox.ready': 'the agent runs in a sandbox from here on',
  'sandbox.denied': 'the agent wanted to reach a host that is not allowed; told once for each',
  'agent.started': "the agent's process was started",
  'tool.started': 'the agent called a tool',
  'tool.ended': 'the tool came back',
  todo: 'the agent changed its list of todos',
  'agent.ended': "the agent's turn is over and its processes are gone",
  'guardrail.started': 'a guardrail was started',
  'guardrail.ended': 'the guardrail came back',
  'verify.ended': 'a verify command came back, after a claim',
  'guard.denied': 'the guard refused a tool call',
  'scm.ended': 'a task of source control came back',
  note: 'word from a human, which goes into the next prompt',
  verdict: 'a claim was judged',
  decision: 'go on, wait or stop, with the state of the loop after the turn',
  signal: 'a signal came (not written by this version)',
  paused: 'a person lets the loop wait before its next iteration',
  unpaused: 'the pause is over',
  notice: 'something that a person may want to know',
  notified: 'a notification was sent, or could not be; also after `run.ended`',
  'run.ended': 'the run ended with an outcome',
  'run.yielded': 'the process stopped after one iteration, as its supervisor asked; the run goes on',
  'run.failed':
    'The loop itself could not go on: a full disk, a prompt file that went away. It can be resumed.',
  'run.abandoned': 'the process of the run had died; written by the next run',
};

/** The modules that know what the documents tell. */
const modules = [
  'src/agents/registry.ts',
  'src/cli/options.ts',
  'src/core/completion.ts',
  'src/core/outcome.ts',
  'src/store/settings.ts',
  'src/store/settings-schema.ts',
];

/** Texts of an agent; how each is read is worked out by the code. A line break is written ⏎. */
const examples = [
  ['All tests pass.⏎⏎<promise>DONE</promise>', 'alone on its line: the best form'],
  ['All finished. <promise>DONE</promise>', 'the sentence before it has ended'],
  ['There are no failures left <promise>DONE</promise>', 'the "no" is about failures, not about the tag'],
  ['```⏎<promise>DONE</promise>⏎```', 'a code fence alone is still a claim'],
  ['`<promise>DONE</promise>`', 'so is inline code with nothing else on the line'],
  ['I will now output the promise: <promise>DONE</promise>', '"now" makes the future the present'],
  [
    'I will not output <promise>DONE</promise> yet.⏎⏎Now the tests pass.⏎⏎<promise>DONE</promise>',
    'the second one counts',
  ],
  ['I will not output <promise>DONE</promise> yet.', 'negated'],
  ["Once all tests pass I'll print <promise>DONE</promise>.", 'future and conditional'],
  ['I should only output <promise>DONE</promise> when everything works.', 'conditional, after the tag'],
  ['<promise>DONE</promise> would be premature.', 'the sentence speaks of the tag'],
  ['The instructions say to output `<promise>DONE</promise>` at the end.', 'inline code inside a sentence'],
  ['Plan:⏎1. fix the test⏎2. output <promise>DONE</promise>', 'a step of a plan'],
  ['- [ ] <promise>DONE</promise>', 'a box that is not ticked'],
  ['When everything is done I will print:⏎⏎<promise>DONE</promise>', 'the line before it ends in a colon'],
  ['<promise> done </promise>', 'almost right: the agent is told what it wrote'],
  ['I am done.', 'no tag'],
];

/** Paths of pages that are not as the source would make them, after writing them if asked to. */
export async function stalePages(root, { write = false } = {}) {
  const source = await loadSource(root, modules);
  const pages = {
    'README.md': { agents: agents(source) },
    'docs/exit-codes.md': { 'exit-codes': exitCodes(source) },
    'docs/settings.md': { settings: settings(source), options: options(source) },
    'docs/journal.md': { events: await events(root) },
    'docs/done.md': { examples: readings(source) },
  };
  const stale = [];
  for (const [path, parts] of Object.entries(pages)) {
    const before = await readFile(join(root, path), 'utf8');
    const after = Object.entries(parts).reduce((text, [name, part]) => replacePart(text, name, part), before);
    if (after === before) continue;
    stale.push(path);
    if (write) await writeFile(join(root, path), after);
  }
  return stale;
}

/** Puts `part` between `<!-- made: name -->` and `<!-- end -->`. */
function replacePart(text, name, part) {
  const [start, end] = [`<!-- made: ${name} -->\n`, '<!-- end -->'];
  const from = text.indexOf(start) + start.length;
  const to = text.indexOf(end, from);
  if (from < start.length || to === -1) throw new Error(`there is no place for "${name}"`);
  return `${text.slice(0, from)}\n${part}\n${text.slice(to)}`;
}

function agents(source) {
  const known = Object.values(source.agents).filter(({ name }) => name !== 'custom');
  return table(
    ['Agent', 'Recorded versions'],
    known.map(({ name, tested }) => [`\`${name}\``, tested.join(', ')]),
  );
}

function exitCodes({ outcomes, otherExits }) {
  const rows = [
    ...Object.entries(outcomes).map(([name, { exitCode, meaning }]) => [exitCode, `\`${name}\``, meaning]),
    ...Object.values(otherExits).map(({ exitCode, meaning }) => [exitCode, '-', meaning]),
  ];
  return table(
    ['Code', 'Outcome', 'Meaning'],
    rows.sort(([a], [b]) => a - b),
  );
}

function settings({ settingTable, settingsSchema, variableName }) {
  const schema = settingsJsonSchema(settingsSchema);
  const rows = [...settingTable].map(([key, { description, fallback }]) => [
    `\`${key}\``,
    kindOfValue(schemaAt(schema, key)),
    fallback === undefined ? '-' : `\`${JSON.stringify(fallback)}\``,
    key === '$schema' ? '-' : `\`${variableName(key)}\``,
    inCode(description),
  ]);
  return table(['Setting', 'Value', 'Default', 'Variable', 'What it does'], rows);
}

function schemaAt(schema, key) {
  return key.split('.').reduce((inner, name) => inner.properties[name], schema);
}

function kindOfValue({ type, enum: words, items, anyOf, minimum }) {
  if (words) return words.map((word) => `\`${word}\``).join(', ');
  if (anyOf) return 'duration';
  if (type === 'array') return items.type === 'object' ? 'list of objects' : 'list of texts';
  if (type === 'integer') return minimum === 0 ? 'whole number' : 'whole number above 0';
  return { boolean: 'true or false', number: 'number above 0', object: 'names and texts', string: 'text' }[
    type
  ];
}

function options({ runOptions }) {
  const usual = { count: 'N', number: 'N', duration: 'TIME' };
  const rows = Object.entries(runOptions).map(([name, option]) => {
    const {
      type,
      short,
      aliases = [],
      choices,
      value = choices?.join('|') ?? usual[type] ?? 'TEXT',
    } = option;
    const after = { boolean: '', optional: `[=${value}]` }[type] ?? ` ${value}`;
    const forms = [`--${option.negatable ? '[no-]' : ''}${name}`, ...aliases.map((alias) => `--${alias}`)];
    const shown = [...(short ? [`-${short}`] : []), ...forms.map((form) => `${form}${after}`)];
    return [shown.map((form) => `\`${form}\``).join(', '), inCode(option.help)];
  });
  return table(['Option', 'What it does'], rows);
}

/** Tags would be taken for HTML. */
function inCode(text) {
  return text.replace(/<(\w+)>.*?<\/\1>/g, '`$&`');
}

/** The members of the union `EventBody`. */
async function events(root) {
  const { default: ts } = await import('typescript');
  const path = 'src/store/events.ts';
  const file = ts.createSourceFile(path, await readFile(join(root, path), 'utf8'), ts.ScriptTarget.Latest);
  const union = file.statements.find((statement) => statement.name?.text === 'EventBody').type;
  const rows = union.types.map(({ members }) => {
    const [type, ...fields] = members.map(({ name, questionToken, type }) => ({
      name: `${name.text}${questionToken ? '?' : ''}`,
      type: type.getText(file).replace(/\s+/g, ' ').replaceAll('readonly ', ''),
    }));
    const name = type.type.slice(1, -1);
    if (!Object.hasOwn(eventMeanings, name))
      throw new Error(`${path}: say what "${name}" tells in scripts/docs.mjs`);
    return [
      `\`${name}\``,
      eventMeanings[name],
      fields.map((field) => `\`${field.name}: ${field.type}\``).join(', '),
    ];
  });
  return table(['Event', 'What it tells', 'Fields'], rows);
}

function readings({ readClaim }) {
  const completion = { promise: { token: 'DONE', match: 'claim' } };
  const words = { done: '**claim**', mention: 'mention', none: 'nothing' };
  const rows = examples.map(([text, why]) => {
    const { kind } = readClaim([text.replaceAll('⏎', '\n')], completion);
    return [text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``, words[kind], why];
  });
  return table(['The agent writes', 'It is read as', 'Because'], rows);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |\n`;
  return `${line(head)}|${head.map(() => '---|').join('')}\n${rows.map(line).join('')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes('--check');
  const stale = await stalePages(dirname(dirname(fileURLToPath(import.meta.url))), { write: !check });
  for (const path of stale)
    console.log(check ? `${path} is stale: run node scripts/docs.mjs` : `wrote ${path}`);
  process.exitCode = check && stale.length > 0 ? 1 : 0;
}

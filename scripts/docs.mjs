// The parts of the documents that are made from the source. `node scripts/docs.mjs` writes them; a check compares.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSource } from './load-source.mjs';
import { settingsJsonSchema } from './settings-json-schema.mjs';

/** The modules that know what the documents tell. */
const modules = [
  'src/agents/registry.ts',
  'src/cli/ralph/options.ts',
  'src/core/completion.ts',
  'src/core/outcome.ts',
  'src/config/settings.ts',
  'src/config/settings-schema.ts',
];

/** Texts of an agent; how each is read is worked out by the code. A line break is written ⏎. */
const examples = [
  ['All tests pass.⏎⏎<promise>DONE</promise>', 'alone on its line: the best form'],
  ['I must output exactly:⏎<promise>DONE</promise>', 'alone on the last line, whatever is said before it'],
  ['**<promise>DONE</promise>** 🎉', 'emphasis and emoji do not matter'],
  ['```⏎<promise>DONE</promise>⏎```', 'nor does a code fence that holds nothing else'],
  ['<promise>DONE</promise>⏎⏎Note: run the migrations before you deploy.', 'nothing announced the tag'],
  ['Alles fertig: <promise>DONE</promise>', 'behind a finished clause'],
  ['<promise>DONE</promise> The parser is fixed.', 'a new sentence follows'],
  ['Task finished <promise>DONE</promise>', 'the last word, behind a word that tells completion'],
  [
    'I will not output <promise>DONE</promise> yet.⏎⏎Now the tests pass.⏎⏎<promise>DONE</promise>',
    'the second one counts',
  ],
  ['I will not output <promise>DONE</promise> yet.', 'inside a sentence'],
  ["Once every test passes I'll print <promise>DONE</promise>.", 'no finished clause, no completion'],
  ['Once the docs are written <promise>DONE</promise>', '"once" defers'],
  ['The instructions say to output `<promise>DONE</promise>` at the end.', 'quoted in a sentence'],
  ['When finished I will print:⏎<promise>DONE</promise>⏎Let me begin.', 'announced, and more text follows'],
  ['Plan:⏎1. fix the test⏎2. <promise>DONE</promise>⏎⏎I start.', 'a list item, and more text follows'],
  ['- [ ] <promise>DONE</promise>', 'an open checkbox'],
  ['~~<promise>DONE</promise>~~', 'struck out'],
  ['<promise>DONE</promise>? Two tests fail.', 'a question mark follows'],
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
    'docs/journal.md': await journal(root),
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

/** The events of the journal, and the parts that several of them share. */
async function journal(root) {
  const paths = ['src/journal/events.ts', 'src/journal/loop-schemas.ts'];
  const { eventTable, ...shared } = await loadSource(root, paths);
  const names = new Map(Object.entries(shared).map(([name, schema]) => [schema, name]));
  const parts = new Map();
  const named = (schema) => {
    const name = names.get(schema);
    if (name === undefined) return typeText(schema, named);
    if (!parts.has(name)) parts.set(name, '').set(name, typeText(schema, named));
    return name;
  };
  const rows = Object.entries(eventTable).map(([type, { meaning, schema }]) => [
    code(type),
    meaning,
    fieldTexts(schema, named).map(code).join(', '),
  ]);
  const partRows = [...parts].map((cells) => cells.map(code));
  return {
    events: table(['Event', 'What it tells', 'Fields'], rows),
    parts: table(['Part', 'Type'], partRows),
  };
}

/** A schema as TypeScript would write it; `inner` does the same for what is in it. */
function typeText(schema, inner) {
  const { type, options, wrapped, item, key, value } = schema;
  if (type === 'picklist') return options.map((word) => `'${word}'`).join(' | ');
  if (type === 'literal') return String(schema.literal);
  if (type === 'nullable') return `${inner(wrapped)} | null`;
  if (type === 'exact_optional') return inner(wrapped);
  if (type === 'array') return `${inner(item)}[]`;
  if (type === 'record') return `Record<${inner(key)}, ${inner(value)}>`;
  if (type === 'object') return `{ ${fieldTexts(schema, inner).join(', ')} }`;
  return type === 'custom' ? 'string' : type;
}

function fieldTexts({ entries }, inner) {
  return Object.entries(entries).map(
    ([name, schema]) => `${name}${schema.type === 'exact_optional' ? '?' : ''}: ${inner(schema)}`,
  );
}

function code(text) {
  return `\`${text}\``;
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
  const stale = await stalePages(dirname(dirname(fileURLToPath(import.meta.url))), { write: true });
  for (const path of stale) console.log(`wrote ${path}`);
}

import { widthOf, wrapTo } from '../../show/terminal/width.ts';
import { type AnyCommand, commandsIn, firstWords, type Option, type Program } from './spec.ts';

/** The page of `ralph --help`. */
export function programHelp(program: Program): string {
  const { name, summary, commands } = program;
  const topics = Object.entries(program.topics).map(([topic, text]) => [topic, text.summary] as const);
  const topicLines = topics.length === 0 ? [] : ['', `Topics (${name} help TOPIC)`, ...columns(topics)];
  return overview(`${name}: ${summary}`, Object.values(commands), [
    ...columns(firstWords(program)),
    ...topicLines,
  ]);
}

/** The page of `ralph prd --help`. */
export function groupHelp(program: Program, group: string): string {
  const commands = commandsIn(program, group);
  const lines = columns(commands.map(([name, spec]) => [name, spec.summary]));
  const title = `${program.name} ${group}: ${program.groups?.[group] ?? ''}`;
  return overview(
    title,
    commands.map(([, spec]) => spec),
    lines,
  );
}

function overview(title: string, commands: readonly AnyCommand[], lines: readonly string[]): string {
  const examples = commands.flatMap((spec) => spec.examples.slice(0, 1)).slice(0, 4);
  const more = `${title.split(':')[0]} COMMAND --help shows the options of a command.`;
  const page = [title, '', 'Examples', ...columns(examples), '', 'Commands', ...lines, '', more, ''];
  return wrapPage(page.join('\n'));
}

/** The page of `ralph run --help`. */
export function commandHelp(program: string, name: string, spec: AnyCommand): string {
  const { args = [], examples, details } = spec;
  const options = Object.entries<Option>(spec.options);
  const words = args.map(({ name, many, required }) => {
    const word = many ? `${name}...` : name;
    return required ? word : `[${word}]`;
  });
  const page = [
    `${program} ${name}: ${spec.summary}`,
    '',
    `Usage: ${[program, name, ...words, ...(options.length > 0 ? ['[options]'] : [])].join(' ')}`,
    ...section('Examples', examples),
    ...section(
      'Arguments',
      args.map(({ name, help }) => [name, help]),
    ),
    ...section(
      'Options',
      options.map(([long, option]) => [optionForm(long, option), option.help]),
    ),
    ...(details === undefined ? [] : ['', details]),
    '',
  ];
  return wrapPage(page.join('\n'));
}

/** Breaks long lines at words. What is in a column behind others stays in it. */
export function wrapPage(page: string, width = 80): string {
  const lines = page.split('\n').map((line) => {
    if (widthOf(line) <= width) return line;
    const [blanks = '', columns = blanks] = [/^ */, /^ *\S.{0,36} {2,}/].map(
      (pattern) => pattern.exec(line)?.[0],
    );
    const start = widthOf(columns) > width / 2 ? blanks : columns;
    const indent = widthOf(start);
    const [first = '', ...rest] = wrapTo(line.slice(start.length), width - indent);
    return [`${start}${first}`, ...rest.map((part) => `${' '.repeat(indent)}${part}`)].join('\n');
  });
  return lines.join('\n');
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ['', title, ...columns(rows)];
}

function optionForm(long: string, option: Option): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  const name = option.negatable ? `[no-]${long}` : long;
  const value = option.value ?? option.choices?.join('|') ?? defaultValueName(option.type);
  if (option.type === 'boolean') return `${short}--${name}`;
  return option.type === 'optional' ? `${short}--${name}[=${value}]` : `${short}--${name} ${value}`;
}

function defaultValueName(type: Option['type']): string {
  if (type === 'duration') return 'TIME';
  return type === 'count' || type === 'number' ? 'N' : 'TEXT';
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(Math.max(...rows.map(([left]) => left.length)), 34);
  return rows.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  );
}

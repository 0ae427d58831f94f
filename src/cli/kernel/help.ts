import { type AnyCommand, commandsIn, firstWords, type Option, type Program } from './spec.ts';

/** The page of `ralph --help`. */
export function programHelp(program: Program): string {
  const topics = Object.entries(program.topics).map(([name, topic]) => [name, topic.summary] as const);
  const first = Object.entries(program.commands)
    .flatMap(([, spec]) => spec.examples.slice(0, 1))
    .slice(0, 4);
  return [
    `${program.name}: ${program.summary}`,
    '',
    'Examples',
    ...columns(first),
    '',
    'Commands',
    ...columns(firstWords(program)),
    ...(topics.length === 0 ? [] : ['', `Topics (${program.name} help TOPIC)`, ...columns(topics)]),
    '',
    `${program.name} COMMAND --help shows the options of a command.`,
    '',
  ].join('\n');
}

/** The page of `ralph prd --help`. */
export function groupHelp(program: Program, group: string): string {
  const commands = commandsIn(program, group);
  return [
    `${program.name} ${group}: ${program.groups?.[group] ?? ''}`,
    '',
    'Examples',
    ...columns(commands.flatMap(([, spec]) => spec.examples.slice(0, 1)).slice(0, 4)),
    '',
    'Commands',
    ...columns(commands.map(([name, spec]) => [name, spec.summary] as const)),
    '',
    `${program.name} ${group} COMMAND --help shows the options of a command.`,
    '',
  ].join('\n');
}

/** The page of `ralph run --help`. */
export function commandHelp(program: string, name: string, spec: AnyCommand): string {
  const args = (spec.args ?? []).map((a) => {
    const word = a.many ? `${a.name}...` : a.name;
    return a.required ? word : `[${word}]`;
  });
  const options = Object.entries<Option>(spec.options).map(
    ([long, option]) => [optionForm(long, option), option.help] as const,
  );
  return [
    `${program} ${name}: ${spec.summary}`,
    '',
    `Usage: ${[program, name, ...args, ...(options.length > 0 ? ['[options]'] : [])].join(' ')}`,
    ...(spec.examples.length === 0 ? [] : ['', 'Examples', ...columns(spec.examples)]),
    ...((spec.args ?? []).length === 0
      ? []
      : ['', 'Arguments', ...columns((spec.args ?? []).map((a) => [a.name, a.help] as const))]),
    ...(options.length === 0 ? [] : ['', 'Options', ...columns(options)]),
    ...(spec.details === undefined ? [] : ['', spec.details]),
    '',
  ].join('\n');
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

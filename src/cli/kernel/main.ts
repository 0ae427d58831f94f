import { relative, resolve } from 'node:path';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import { failureOf } from '../../core/outcome.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { commandHelp, groupHelp, programHelp, wrapPage } from './help.ts';
import { type Parsed, parse } from './parse.ts';
import { type AnyCommand, type Context, commandsIn, firstWords, type Option, type Program } from './spec.ts';

/** Finds the command, parses its options, loads it and runs it. Returns the exit code. */
export async function main(program: Program, words: readonly string[], context: Context): Promise<number> {
  try {
    return await dispatch(program, words, context);
  } catch (error) {
    return report(error, words, context, program.errorStart ?? 'error:');
  }
}

async function dispatch(program: Program, words: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = words;
  if (first === undefined) {
    context.stderr.write(programHelp(program));
    return 2;
  }
  if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
    context.stdout.write(programHelp(program));
    return 0;
  }
  if (first === 'help') return showHelp(program, rest.slice(0, 2), context);
  if (program.groups?.[first] !== undefined) return dispatchIn(program, first, rest, context);
  if (program.commands[first]) return call(program, first, rest, context);
  if (first.startsWith('-') && program.defaultCommand) {
    return call(program, program.defaultCommand, words, context);
  }
  // `swarm pause` is `swarm ralph pause`.
  const inGroup = Object.keys(program.commands).find((command) => command.endsWith(` ${first}`));
  const near = inGroup === undefined ? nearest(first, wordsOf(program)) : `${program.name} ${inGroup}`;
  throw unknownWord(program.name, `command "${first}"`, near);
}

async function dispatchIn(
  program: Program,
  group: string,
  [second, ...rest]: readonly string[],
  context: Context,
): Promise<number> {
  const name = `${group} ${second}`;
  if (program.commands[name]) return call(program, name, rest, context);
  if (second === undefined || second === '--help' || second === '-h' || second === 'help') {
    (second === undefined ? context.stderr : context.stdout).write(groupHelp(program, group));
    return second === undefined ? 2 : 0;
  }
  const words = commandsIn(program, group).map(([word]) => word);
  const place = `${program.name} ${group}`;
  throw unknownWord(place, `command of ${place} "${second}"`, nearest(second, words));
}

async function call(program: Program, name: string, words: readonly string[], context: Context) {
  const spec: AnyCommand | undefined = program.commands[name];
  if (spec === undefined) return 2;
  const parsed = parse(words, spec, `${program.name} ${name}`);
  if (parsed.help) {
    context.stdout.write(commandHelp(program.name, name, spec));
    return 0;
  }
  const { main: run } = await spec.load();
  if (!spec.isHere && parsed.values['one-iteration'] === undefined)
    enterProject(program, spec, context, parsed.values);
  return (await run(context, parsed as never)) ?? 0;
}

/** Goes to the project around this folder. Paths that were typed then start from there. */
function enterProject(program: Program, spec: AnyCommand, context: Context, values: Parsed['values']): void {
  const from = context.cwd;
  const project = program.projectFolder?.(context) ?? from;
  if (project === from) return;
  process.chdir(project);
  for (const [name, { value: kind = '' }] of Object.entries<Option>(spec.options)) {
    const typed = values[name];
    if (!['FILE', 'PATH'].includes(kind) || typeof typed !== 'string' || typed === '-') continue;
    values[name] = relative(project, resolve(from, typed)) || '.';
  }
}

async function showHelp(program: Program, words: readonly string[], context: Context): Promise<number> {
  const [word = ''] = words;
  const name = program.groups?.[word] === undefined ? word : words.join(' ');
  const spec: AnyCommand | undefined = program.commands[name];
  const topic = program.topics[name];
  if (spec) context.stdout.write(commandHelp(program.name, name, spec));
  else if (program.groups?.[name] !== undefined) context.stdout.write(groupHelp(program, name));
  else if (topic) context.stdout.write(wrapPage(await topic.text()));
  else {
    const near = nearest(name, [...wordsOf(program), ...Object.keys(program.topics)]);
    throw unknownWord(program.name, `command or topic "${name}"`, near);
  }
  return 0;
}

function wordsOf(program: Program): string[] {
  return firstWords(program).map(([word]) => word);
}

function unknownWord(program: string, what: string, near: string | null): RalphError {
  const hint = near === null ? '' : `; did you mean ${near}?`;
  return new RalphError('usage', `there is no ${what}${hint}`, { remedy: `${program} --help` });
}

function report(error: unknown, words: readonly string[], context: Context, start: string): number {
  const { code, exitCode } = failureOf(error);
  const remedy = isRalphError(error) ? error.remedy : undefined;
  const message = cleanTerminal(messageOf(error));
  if (words.includes('--json')) {
    const body = { code, message, remedy: remedy || undefined };
    context.stdout.write(`${JSON.stringify({ error: body })}\n`);
  }
  context.stderr.write(`${start} ${message}\n`);
  if (remedy) context.stderr.write(`  try: ${remedy}\n`);
  if (!isRalphError(error) && context.env.RALPH_DEBUG && error instanceof Error)
    context.stderr.write(`${error.stack}\n`);
  return exitCode;
}

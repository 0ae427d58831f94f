import { isRalphError, messageOf, RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import { failureOf } from '../../core/outcome.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import { parse } from './parse.ts';
import { type AnyCommand, type Context, commandsIn, firstWords, type Program } from './spec.ts';

/** Finds the command, reads its options, loads it and runs it. Answers with the exit code. */
export async function main(program: Program, words: readonly string[], context: Context): Promise<number> {
  try {
    return await dispatch(program, words, context);
  } catch (error) {
    return report(error, words, context, program.errorStart ?? 'error:');
  }
}

async function dispatch(program: Program, words: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = words;
  if (first === undefined) return withoutWords(program, context);
  if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
    context.stdout.write(programHelp(program));
    return 0;
  }
  if (first === 'help') return showHelp(program, rest.slice(0, 2), context);
  if (program.groups?.[first] !== undefined) return dispatchIn(program, first, rest, context);
  const name = program.commands[first] ? first : program.defaultCommand;
  const spec =
    name === undefined || (name !== first && !first.startsWith('-')) ? undefined : program.commands[name];
  if (name === undefined || spec === undefined) {
    const known = firstWords(program).map(([word]) => word);
    // `swarm pause` is `swarm ralph pause`.
    const inGroup = Object.keys(program.commands).find((command) => command.endsWith(` ${first}`));
    throw unknownWord(first, 'command', known, program.name, inGroup && `${program.name} ${inGroup}`);
  }
  return call(program, name, spec, name === first ? rest : words, context);
}

async function dispatchIn(
  program: Program,
  group: string,
  [second, ...rest]: readonly string[],
  context: Context,
): Promise<number> {
  const name = `${group} ${second}`;
  const spec = program.commands[name];
  if (spec) return call(program, name, spec, rest, context);
  if (second === undefined || second === '--help' || second === '-h' || second === 'help') {
    (second === undefined ? context.stderr : context.stdout).write(groupHelp(program, group));
    return second === undefined ? 2 : 0;
  }
  const known = commandsIn(program, group).map(([word]) => word);
  throw unknownWord(second, `command of ${program.name} ${group}`, known, `${program.name} ${group}`);
}

async function call(
  program: Program,
  name: string,
  spec: AnyCommand,
  words: readonly string[],
  context: Context,
): Promise<number> {
  const parsed = parse(words, spec, `${program.name} ${name}`);
  if (parsed.help) {
    context.stdout.write(commandHelp(program.name, name, spec));
    return 0;
  }
  const { main: run } = await spec.load();
  return await run(context, parsed as never);
}

/** A person is told how things stand; a script that forgot its words is told that. */
async function withoutWords(program: Program, context: Context): Promise<number> {
  if (program.overview && context.stdout.isTTY) {
    context.stdout.write(cleanTerminal(await program.overview(context.cwd)));
    return 0;
  }
  context.stderr.write(programHelp(program));
  return 2;
}

async function showHelp(program: Program, words: readonly string[], context: Context): Promise<number> {
  const [word = ''] = words;
  const name = program.groups?.[word] === undefined ? word : words.join(' ');
  const spec: AnyCommand | undefined = program.commands[name];
  const topic = program.topics[name];
  if (spec) context.stdout.write(commandHelp(program.name, name, spec));
  else if (program.groups?.[name] !== undefined) context.stdout.write(groupHelp(program, name));
  else if (topic) context.stdout.write(await topic.text());
  else
    throw unknownWord(
      name,
      'command or topic',
      [...firstWords(program).map(([first]) => first), ...Object.keys(program.topics)],
      program.name,
    );
  return 0;
}

function unknownWord(
  word: string,
  what: string,
  known: readonly string[],
  program: string,
  near = nearest(word, known),
): RalphError {
  return new RalphError(
    'usage',
    `there is no ${what} "${word}"${near === null ? '' : `; did you mean ${near}?`}`,
    {
      remedy: `${program} --help`,
      exitCode: 2,
    },
  );
}

function report(error: unknown, words: readonly string[], context: Context, start: string): number {
  const known = isRalphError(error) ? error : undefined;
  const { code, exitCode } = failureOf(error);
  const message = cleanTerminal(messageOf(error));
  if (words.includes('--json')) {
    const body = { code, message, ...(known?.remedy ? { remedy: known.remedy } : {}) };
    context.stdout.write(`${JSON.stringify({ error: body })}\n`);
  }
  context.stderr.write(`${start} ${message}\n`);
  if (known?.remedy) context.stderr.write(`  try: ${known.remedy}\n`);
  if (!known && context.env.RALPH_DEBUG && error instanceof Error) context.stderr.write(`${error.stack}\n`);
  return exitCode;
}

import { isRalphError, messageOf, RalphError } from '../core/error.ts';
import { nearest } from '../core/nearest.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { commandHelp, programHelp } from './help.ts';
import { parse } from './parse.ts';
import type { AnyCommand, Context, Program } from './spec.ts';

/** Finds the command, reads its options, loads it and runs it. Answers with the exit code. */
export async function main(program: Program, words: readonly string[], context: Context): Promise<number> {
  try {
    return await dispatch(program, words, context);
  } catch (error) {
    return report(error, words, context);
  }
}

async function dispatch(program: Program, words: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = words;
  if (first === undefined) return withoutWords(program, context);
  if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
    context.stdout.write(programHelp(program));
    return 0;
  }
  if (first === 'help') return showHelp(program, rest[0] ?? '', context);
  const name = program.commands[first] ? first : program.defaultCommand;
  const spec =
    name === undefined || (name !== first && !first.startsWith('-')) ? undefined : program.commands[name];
  if (name === undefined || spec === undefined)
    throw unknownWord(first, 'command', Object.keys(program.commands), program);
  const parsed = parse(name === first ? rest : words, spec, `${program.name} ${name}`);
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

async function showHelp(program: Program, word: string, context: Context): Promise<number> {
  const spec: AnyCommand | undefined = program.commands[word];
  const topic = program.topics[word];
  if (spec) context.stdout.write(commandHelp(program.name, word, spec));
  else if (topic) context.stdout.write(await topic.text());
  else
    throw unknownWord(
      word,
      'command or topic',
      [...Object.keys(program.commands), ...Object.keys(program.topics)],
      program,
    );
  return 0;
}

function unknownWord(word: string, what: string, known: readonly string[], program: Program): RalphError {
  const near = nearest(word, known);
  return new RalphError(
    'usage',
    `there is no ${what} "${word}"${near === null ? '' : `; did you mean ${near}?`}`,
    {
      remedy: `${program.name} --help`,
      exitCode: 2,
    },
  );
}

function report(error: unknown, words: readonly string[], context: Context): number {
  const known = isRalphError(error) ? error : undefined;
  const message = cleanTerminal(messageOf(error));
  if (words.includes('--json')) {
    const body = {
      code: known?.code ?? 'internal',
      message,
      ...(known?.remedy ? { remedy: known.remedy } : {}),
    };
    context.stdout.write(`${JSON.stringify({ error: body })}\n`);
  }
  context.stderr.write(`error: ${message}\n`);
  if (known?.remedy) context.stderr.write(`  try: ${known.remedy}\n`);
  if (!known && context.env.RALPH_DEBUG && error instanceof Error) context.stderr.write(`${error.stack}\n`);
  return known?.exitCode ?? 70;
}

import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { isCancel, select, text } from '@clack/prompts';
import type { Context } from '../kernel/spec.ts';

/** Thrown when the person cancels, or the input ends. */
export class Interrupted extends Error {}

type Question = {
  readonly text: string;
  /** Answer of an empty line. */
  readonly preset?: string;
  /** Returns what is wrong with an answer, which is then asked for again. */
  readonly problem?: (answer: string) => string | undefined;
};

export type Choice = { readonly value: string; readonly hint: string };

/** A conversation with a person, or with a file of answers. */
export type Talk = {
  ask(question: Question): Promise<string>;
  /** Takes the first choice where nobody can be asked. */
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  say(text: string): void;
  close(): void;
};

/** Talks to the person at the terminal. Ctrl+C and Ctrl+D end the conversation. */
export function terminalTalk({ stdin, stdout }: Context): Talk {
  const input = new PassThrough();
  const output = stdout.stream;
  const lines: string[] = [];
  let isAsking = false;
  /** A prompt drops what follows its line, so that pasted lines are handed out one by one. */
  const feed = (): void => {
    const line = isAsking ? lines.shift() : undefined;
    if (line === undefined) return;
    input.write(line);
    setImmediate(feed);
  };
  const onData = (data: Buffer | string): void => {
    const typed = String(data).replaceAll('\n', '\r').replaceAll('\x04', '\x03');
    lines.push(...typed.split(/(?<=\r)/));
    feed();
  };
  const interrupt = () => input.write('\x03');
  const answerOf = async (prompt: Promise<string | symbol>): Promise<string> => {
    isAsking = true;
    setImmediate(feed);
    const answer = await prompt;
    isAsking = false;
    if (isCancel(answer)) throw new Interrupted();
    return String(answer).trim();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  stdin.setRawMode(true).on('data', onData).resume();
  return {
    ask: ({ text: message, preset = '', problem }) =>
      answerOf(
        text({
          message,
          input,
          output,
          placeholder: preset,
          defaultValue: preset,
          validate: (line = '') => problem?.(line.trim() || preset),
        }),
      ),
    choose: (message, choices) =>
      answerOf(
        select({
          message,
          input,
          output,
          options: choices.map(({ value, hint }) => ({ value, label: `${value}: ${hint}` })),
        }),
      ),
    say: (message) => stdout.write(`${message}\n`),
    close() {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      stdin.off('data', onData).pause().setRawMode(false);
    },
  };
}

/** Asks the person at the terminal for a yes. Ctrl+C is a no. */
export async function confirm(context: Context, question: string): Promise<boolean> {
  const talk = terminalTalk(context);
  try {
    return await isYes(talk, `${question} (y/N)`, 'N');
  } catch (error) {
    if (error instanceof Interrupted) return false;
    throw error;
  } finally {
    talk.close();
  }
}

export async function isYes(talk: Talk, text: string, preset: 'Y' | 'N'): Promise<boolean> {
  return /^y(es)?$/i.test(await talk.ask({ text, preset }));
}

/** Reads the answers from lines of a pipe. */
export function pipedTalk({ stdin, stdout }: Context): Talk {
  const reader = createInterface({ input: stdin });
  const lines = reader[Symbol.asyncIterator]();
  const say = (message: string) => stdout.write(`${message}\n`);
  return {
    async ask({ text: question, preset = '', problem }) {
      for (;;) {
        stdout.write(`${question} `);
        const { value, done } = await lines.next();
        if (done) throw new Interrupted();
        const answer = value.trim() || preset;
        say(answer);
        const reason = problem?.(answer);
        if (reason === undefined) return answer;
        say(reason);
      }
    },
    choose: async (_, [first]) => first?.value ?? '',
    say,
    close: () => reader.close(),
  };
}

import { createInterface } from 'node:readline';
import type { Context } from '../kernel/spec.ts';
import type { Talk } from './init-flow.ts';

/** Talks to the person at the terminal. Ctrl+C and Ctrl+D end the conversation. */
export function terminalTalk({ stdin, stdout }: Context): Talk & { close(): void } {
  const reader = createInterface({ input: stdin, output: stdout.stream });
  // The iterator keeps lines that were pasted before their question.
  const lines = reader[Symbol.asyncIterator]();
  let isClosed = false;
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    reader.close();
  };
  reader.on('close', () => {
    isClosed = true;
  });
  reader.on('SIGINT', interrupt);
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return {
    async ask(question) {
      reader.setPrompt(question);
      if (!isClosed) reader.prompt();
      const { value, done } = await lines.next();
      return isInterrupted || done ? null : value;
    },
    say: (text) => stdout.write(`${text}\n`),
    close() {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      reader.close();
    },
  };
}

import { createInterface } from 'node:readline';
import type { Context } from '../kernel/spec.ts';
import type { Talk } from './init-flow.ts';

/** Talks to the person at the terminal. Ctrl+C and Ctrl+D end the conversation. */
export function terminalTalk({ stdin, stdout }: Context): Talk & { close(): void } {
  const reader = createInterface({ input: stdin, output: stdout.stream });
  // Whoever pastes several lines at once answers questions that are still to come.
  const lines: string[] = [];
  let ended = false;
  let wake = () => {};
  const interrupt = () => {
    lines.length = 0;
    reader.close();
  };
  reader.on('line', (line) => {
    lines.push(line);
    wake();
  });
  reader.on('close', () => {
    ended = true;
    wake();
  });
  reader.on('SIGINT', interrupt);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    async ask(question) {
      if (ended) return lines.shift() ?? null;
      reader.setPrompt(question);
      reader.prompt();
      if (lines.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return lines.shift() ?? null;
    },
    say: (text) => void stdout.write(`${text}\n`),
    close() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      reader.close();
    },
  };
}

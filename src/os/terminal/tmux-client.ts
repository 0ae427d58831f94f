import { systemClock } from '../clock.ts';
import type { Environment } from '../process/program.ts';
import { type Argv, launch, signalGroup } from '../process/spawn.ts';

/** A client that stays attached to a tmux server, so that a question costs no process. */
export type TmuxClient = ReturnType<typeof attachClient>;

type Answers = (string | null)[];

type Question = {
  readonly commands: number;
  readonly answers: Answers;
  resolve(answers: Answers | null): void;
};

const newline = 10;
const timeoutMs = 20_000;

/**
 * Attaches to a session in control mode, where tmux puts each answer between two lines with the number of the command.
 * A program may print such lines, too: as soon as anything is unexpected, the client is closed and its last answer is
 * not used.
 */
export function attachClient(argv: Argv, env: Environment) {
  const questions: Question[] = [];
  let isOpen = true;
  let hasExited = false;

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    client.input.close();
    // Its pid may be that of another process once it has ended.
    if (!hasExited) signalGroup(client.pid, 'SIGKILL');
    for (const question of questions.splice(0)) question.resolve(null);
  }

  function take(answer: string | null): void {
    const [question] = questions;
    if (question === undefined) {
      close();
      return;
    }
    question.answers.push(answer);
    if (question.answers.length < question.commands) return;
    questions.shift();
    question.resolve(question.answers);
  }

  const onStdout = createReader(take, close);
  const client = launch({ argv, cwd: '/', env, stdin: '', keepsInput: true, onStdout, onStderr: () => {} });
  void client.exited.then(() => {
    hasExited = true;
    close();
  });
  return {
    isOpen: () => isOpen,
    close,
    /** Returns what each command printed, null for one that failed; null for all if the client was closed. */
    ask(commands: readonly string[]): Promise<Answers | null> {
      if (!isOpen) return Promise.resolve(null);
      return new Promise((resolve) => {
        const cancel = systemClock.timer(timeoutMs, close);
        questions.push({
          commands: commands.length,
          answers: [],
          resolve(answers) {
            cancel();
            resolve(answers);
          },
        });
        client.input.write(`${commands.join('\n')}\n`);
      });
    },
  };
}

/** Reads answers from the output of control mode; null is an error. Reads nothing more after `onUnexpected`. */
function createReader(onAnswer: (answer: string | null) => void, onUnexpected: () => void) {
  let pending: Buffer = Buffer.alloc(0);
  let isBroken = false;

  /** Takes the answer after its first line, if it is all there. */
  function readAnswer(id: string, start: number): boolean {
    const good = `\n%end ${id}\n`;
    const bad = `\n%error ${id}\n`;
    const endOfGood = pending.indexOf(good, start);
    const end = endOfGood === -1 ? pending.indexOf(bad, start) : endOfGood;
    if (end === -1) return false;
    const text = endOfGood === -1 ? null : pending.toString('utf8', start + 1, Math.max(start + 1, end));
    pending = pending.subarray(end + (endOfGood === -1 ? bad : good).length);
    // Commands that tmux runs by itself, such as the attaching, have no 1 at the end.
    if (id.endsWith(' 1')) onAnswer(text);
    return true;
  }

  return (chunk: Buffer): void => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf(newline); !isBroken && end !== -1; end = pending.indexOf(newline)) {
      const line = pending.toString('latin1', 0, end);
      const id = /^%begin (\d+ \d+ \d+)$/.exec(line)?.[1];
      if (id !== undefined) {
        if (!readAnswer(id, end)) return;
      } else if (/^%(?!end|error|exit)[a-z]/.test(line)) {
        pending = pending.subarray(end + 1);
      } else {
        isBroken = true;
        onUnexpected();
      }
    }
  };
}

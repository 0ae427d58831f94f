import {
  answersOf as answers,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { codex } from './agent.ts';

/** After an error no usage is told. */
const failed: ExpectedTurn = { text: [], end: 'failed', exitCode: 1 };
const limited = { ...failed, end: 'limited' } as const;

/** The promise stands in the prompt, in the reasoning and in the output of a command that exits with 3. */
const quotedPromise: ExpectedTurn = {
  text: ['Looking.', 'Part A. ', 'Not there yet.'],
  usage: answers(2),
  tools: [{ ok: false, exitCode: 3 }],
};

const toolError: ExpectedTurn = {
  text: [`The command failed. ${done}`],
  usage: answers(2),
  tools: [{ ok: false, exitCode: 3 }],
};

describeRecordings(codex, {
  '0.166.0-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  // With a warning about the model, told as an item of type `error`.
  '0.166.0-unknown-model': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '0.166.0-resumed': { text: [`Hello from the mock. ${done}`], resumed: true },
  '0.166.0-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '0.166.0-tool-error': toolError,
  '0.166.0-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '0.166.0-non-ascii': {
    text: ['Привет 👋🏽. ', nonAscii],
    usage: answers(2),
    tools: [{ ok: true, exitCode: 0 }],
  },
  '0.166.0-big-output': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '0.166.0-quoted-promise': quotedPromise,
  '0.166.0-empty': { text: [], usage: answers(1) },
  '0.166.0-max-tokens': { ...failed, text: ['cut off by the output limi'] },
  '0.166.0-refusal': { ...failed, text: ['I cannot help.', 'I cannot help.', 'I cannot help.'] },
  '0.166.0-err-400': failed,
  '0.166.0-err-401': { ...limited, limit: { kind: 'auth' } },
  '0.166.0-err-429-then-ok': { text: [done], usage: answers(1) },
  '0.166.0-err-429-forever': { ...limited, limit: { kind: 'overload' } },
  '0.166.0-err-500-forever': { ...limited, limit: { kind: 'overload' } },
  '0.166.0-err-529-forever': { ...limited, limit: { kind: 'overload' } },
  '0.166.0-err-context': { ...limited, limit: { kind: 'context' } },
  '0.166.0-err-credit': { ...limited, limit: { kind: 'quota' } },
  '0.166.0-err-usage-limit': {
    ...limited,
    limit: { kind: 'usage', resetsAt: new Date(2026, 10, 19, 0, 52).getTime() },
  },
  '0.166.0-err-after-tool': { ...failed, tools: [{ ok: true, exitCode: 0 }] },
  '0.80.0-todo': {
    text: [done],
    usage: answers(3),
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'done' },
      { text: 'Run tests', status: 'pending' },
    ],
  },
  '0.80.0-tool-error': toolError,
  '0.80.0-quoted-promise': quotedPromise,
  '0.80.0-err-429-forever': { ...limited, limit: { kind: 'overload' } },
  '0.80.0-err-500-forever': { ...limited, limit: { kind: 'overload' } },
});

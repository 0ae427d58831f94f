import {
  answersOf,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { pi } from './agent.ts';

const answers = (count: number) => answersOf(count, 0);

/** With exit code 0, whatever happened. */
const failed: ExpectedTurn = { text: [], end: 'failed', usage: answers(0) };
const limited = { ...failed, end: 'limited' } as const;

describeRecordings(pi, {
  '0.73.1-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '0.73.1-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  '0.73.1-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '0.73.1-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  // It has no such tool, and the model calls one all the same.
  '0.73.1-todo': { text: [done], usage: answers(3), tools: [{ ok: false }, { ok: false }] },
  '0.73.1-non-ascii': { text: ['Привет 👋🏽. ', nonAscii], usage: answers(2), tools: [{ ok: true }] },
  // The promise stands in the prompt, in the thinking and in the output of a command that exits with 3.
  '0.73.1-quoted-promise': {
    text: ['Looking.', 'Part A. ', 'Not there yet.'],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '0.73.1-retry-then-ok': { text: [done], usage: answers(1) },
  '0.73.1-max-tokens': { ...failed, text: ['cut off by the output limi'], usage: answers(1) },
  '0.73.1-empty': { text: [], usage: answers(1) },
  '0.73.1-err-400': failed,
  '0.73.1-err-401': { ...limited, limit: { kind: 'auth' } },
  '0.73.1-err-429-forever': { ...limited, limit: { kind: 'overload' } },
  '0.73.1-err-500-forever': { ...limited, limit: { kind: 'overload' } },
  '0.73.1-err-context': { ...limited, limit: { kind: 'context' } },
  // The headers that tell the reset time are not passed on.
  '0.73.1-err-usage-limit': { ...limited, limit: { kind: 'overload' } },
  '0.87.1-text': { text: ['Hello. <promise>DONE</promise>'], usage: answers(1) },
  '0.87.1-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '0.87.1-tool-error': {
    text: ['The command failed. <promise>DONE</promise>'],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '0.87.1-multi-block': {
    text: ['First text block.', 'Part A. ', 'Part B. <promise>DONE</promise>'],
    usage: answers(2),
    tools: [{ ok: true }, { ok: false, exitCode: 1 }],
  },
  '0.87.1-quoted-promise': { text: ['Not yet.'], usage: answers(2), tools: [{ ok: true }] },
  '0.87.1-err-429-then-ok': { text: [done], usage: answers(1) },
  '0.87.1-max-tokens': { ...failed, text: ['cut off by the output limi'], usage: answers(1) },
  '0.87.1-refusal': { ...failed, text: ['I cannot help.'], usage: answers(1) },
  '0.87.1-err-400': failed,
  '0.87.1-err-401': { ...limited, limit: { kind: 'auth' } },
  '0.87.1-err-context': { ...limited, limit: { kind: 'context' } },
  '0.87.1-err-usage-limit': { ...limited, limit: { kind: 'overload' } },
  '0.73.1-err-after-tool': { ...failed, usage: answers(1), tools: [{ ok: true }] },
});

import {
  answersOf as answers,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { qwen } from './agent.ts';

/** Success by its own words: result, `is_error` and exit code all say so. */
const failed: ExpectedTurn = { text: [], end: 'failed', usage: answers(0) };
const overloaded: ExpectedTurn = { ...failed, end: 'limited', limit: { kind: 'overload' } };

// Some answers are to requests that Qwen makes for itself.
describeRecordings(qwen, {
  '0.24.4-text': { text: ['Hello. <promise>DONE</promise>'], usage: answers(1) },
  '0.24.4-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '0.24.4-tool-error': {
    text: ['The command failed. <promise>DONE</promise>'],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '0.24.4-multi-block': {
    text: ['First text block.', 'Part A. Part B. <promise>DONE</promise>'],
    usage: answers(2),
    tools: [{ ok: true }, { ok: false, exitCode: 1 }],
  },
  '0.24.4-quoted-promise': { text: ['Not yet.'], usage: answers(2), tools: [{ ok: true }] },
  // It asks five times for an answer that is not empty.
  '0.24.4-empty': { ...failed, exitCode: 1, usage: answers(5) },
  '0.24.4-err-400': { ...failed, exitCode: 1 },
  '0.24.4-err-401': { ...failed, exitCode: 1, end: 'limited', limit: { kind: 'auth' } },
  '0.24.4-err-context': { ...failed, exitCode: 1, end: 'limited', limit: { kind: 'context' } },
  '0.15.10-text': { text: [`Hello from the mock. ${done}`], usage: answers(2) },
  '0.15.10-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  '0.15.10-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  // The command exited with 3; the stream has no trace of it.
  '0.15.10-tool-error': { text: [`The command failed. ${done}`], usage: answers(2), tools: [{ ok: true }] },
  '0.15.10-exit-codes': {
    text: ['done'],
    usage: answers(2),
    tools: [
      { ok: true, exitCode: 0 },
      { ok: false, exitCode: 1 },
    ],
  },
  '0.15.10-auto-edit': { text: ['done'], usage: answers(2), tools: [{ ok: true }, { ok: false }] },
  '0.15.10-multi-block': {
    text: ['First text block.', `Part A. Part B. ${done}`],
    usage: answers(2),
    tools: [{ ok: true }, { ok: true }],
  },
  '0.15.10-quoted-promise': { text: ['Not yet.'], usage: answers(2), tools: [{ ok: true }] },
  '0.15.10-subagent': { text: ['The helper is done, I am not.'], usage: answers(4), tools: [{ ok: true }] },
  '0.15.10-todo': {
    text: [done],
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'done' },
      { text: 'Run tests', status: 'active' },
    ],
  },
  '0.15.10-non-ascii': {
    text: ['Привет 👋🏽. ', nonAscii],
    usage: answers(2),
    tools: [{ ok: true, exitCode: 0 }],
  },
  // The total in this result is that of two turns; only one answer was this turn's.
  '0.15.10-resumed': { text: ['Two.'], resumed: true, usage: answers(1) },
  '0.15.10-max-tokens': { text: ['cut off by the output limi'.repeat(5)], usage: answers(10) },

  '0.15.10-empty': { ...failed, usage: answers(3) },
  '0.15.10-err-400': failed,
  '0.15.10-err-401': { ...failed, end: 'limited', limit: { kind: 'auth' } },
  '0.15.10-err-429-then-ok': { text: [done], usage: answers(2) },
  // Still trying again when we ended it, and silent about it.
  '0.15.10-err-429-forever': { text: [], end: 'inactive', exitCode: null, cause: 'idle' },
  '0.15.10-err-500-forever': overloaded,
  '0.15.10-err-529-forever': overloaded,
  '0.15.10-err-drop': overloaded,
  '0.15.10-err-context': { ...failed, end: 'limited', limit: { kind: 'context' }, usage: answers(1) },
  '0.15.10-err-after-tool': { ...failed, usage: answers(1), tools: [{ ok: true }] },
  // No result event; the reason is on standard error.
  '0.15.10-max-turns': {
    text: [],
    end: 'failed',
    exitCode: 53,
    usage: answers(2),
    tools: [{ ok: true }, { ok: true }],
  },
});

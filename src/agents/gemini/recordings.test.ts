import {
  answersOf as answers,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { gemini } from './agent.ts';

/** The exit code is the HTTP status modulo 256. */
const failed: ExpectedTurn = { text: [], end: 'failed', exitCode: 144, usage: answers(0) };

describeRecordings(gemini, {
  '0.61.0-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '0.61.0-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  // The command exits with 3, and nothing in the stream says so.
  '0.61.0-tool-error': { text: [`The command failed. ${done}`], usage: answers(2), tools: [{ ok: true }] },
  '0.61.0-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '0.61.0-todo': {
    text: [done],
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'done' },
      { text: 'Run tests', status: 'active' },
    ],
  },
  '0.61.0-non-ascii': { text: ['Привет 👋🏽. ', nonAscii], usage: answers(2), tools: [{ ok: true }] },
  // The promise stands in the prompt, in the thoughts and in the output of a command.
  '0.61.0-quoted-promise': {
    text: ['Looking.', 'Part A. Not there yet.'],
    usage: answers(2),
    tools: [{ ok: true }],
  },
  // The subagent promises, out of sight; its tokens count.
  '0.61.0-subagent': {
    text: ['I ask a helper.', 'Parent goes on.'],
    usage: answers(5),
    tools: [{ ok: true }],
  },
  '0.61.0-denied': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: false }] },
  '0.61.0-empty': { ...failed, exitCode: 0, usage: answers(4) },
  '0.61.0-err-400': failed,
  '0.61.0-err-401': { ...failed, end: 'limited', exitCode: 145, limit: { kind: 'auth' } },
  '0.61.0-err-429-then-ok': { text: [done], usage: answers(1) },
  // Retries are told on standard error only. Ended while it waits, it exits with 0.
  '0.61.0-err-429-forever': { text: [], end: 'timed-out', cause: 'hard-timeout' },
  '0.61.0-err-context': { ...failed, end: 'limited', limit: { kind: 'context' } },
  // The connection broke off, and the CLI calls it a success.
  '0.61.0-err-middrop-then-ok': { text: ['This text is cut in the mid'], usage: answers(1) },
  '0.61.0-err-usage-limit': { ...failed, end: 'limited', exitCode: 173, limit: { kind: 'usage' } },
  '0.61.0-err-after-tool': { ...failed, usage: answers(1), tools: [{ ok: true }] },
});

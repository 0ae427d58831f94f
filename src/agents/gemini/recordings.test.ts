import {
  answersOf as answers,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { gemini } from './agent.ts';

/** The exit code is the HTTP status modulo 256. */
const failed: ExpectedTurn = { text: [], toolCalls: 0, end: 'failed', exitCode: 144, usage: answers(0) };

describeRecordings(gemini, {
  '0.61.0-text': {
    text: [`Hello from the mock. ${done}`],
    toolCalls: 0,
    end: 'finished',
    usage: answers(1),
  },
  '0.61.0-tool-ok': {
    text: [done],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: true }],
  },
  // The command exits with 3, and nothing in the stream says so.
  '0.61.0-tool-error': {
    text: [`The command failed. ${done}`],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: true }],
  },
  '0.61.0-tool-write': {
    text: ['I will write a file.', done],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: true }],
  },
  '0.61.0-todo': {
    text: [done],
    toolCalls: 2,
    end: 'finished',
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'done' },
      { text: 'Run tests', status: 'active' },
    ],
  },
  '0.61.0-non-ascii': {
    text: ['Привет 👋🏽. ', nonAscii],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: true }],
  },
  // The promise stands in the prompt, in the thoughts and in the output of a command.
  '0.61.0-quoted-promise': {
    text: ['Looking.', 'Part A. Not there yet.'],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: true }],
  },
  // The subagent promises, out of sight; its tokens count.
  '0.61.0-subagent': {
    text: ['I ask a helper.', 'Parent goes on.'],
    toolCalls: 1,
    end: 'finished',
    usage: answers(5),
    tools: [{ ok: true }],
  },
  '0.61.0-denied': {
    text: ['I will write a file.', done],
    toolCalls: 1,
    end: 'finished',
    usage: answers(2),
    tools: [{ ok: false }],
  },
  '0.61.0-empty': { ...failed, exitCode: 0, usage: answers(4) },
  '0.61.0-err-400': failed,
  '0.61.0-err-401': { ...failed, end: 'limited', exitCode: 145, limit: { kind: 'auth' } },
  '0.61.0-err-429-then-ok': { text: [done], toolCalls: 0, end: 'finished', usage: answers(1) },
  // Retries are told on standard error only. Ended while it waits, it exits with 0.
  '0.61.0-err-429-forever': { text: [], toolCalls: 0, end: 'timed-out', cause: 'hard-timeout' },
  '0.61.0-err-context': { ...failed, end: 'limited', limit: { kind: 'context' } },
  // The connection broke off, and the CLI calls it a success.
  '0.61.0-err-middrop-then-ok': {
    text: ['This text is cut in the mid'],
    toolCalls: 0,
    end: 'finished',
    usage: answers(1),
  },
  '0.61.0-err-usage-limit': { ...failed, end: 'limited', exitCode: 173, limit: { kind: 'usage' } },
  '0.61.0-err-after-tool': { ...failed, toolCalls: 1, usage: answers(1), tools: [{ ok: true }] },
});

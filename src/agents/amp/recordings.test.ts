import {
  answersOf as answers,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { amp } from './agent.ts';

/** The exit code is 0 after every error. */
const failed: ExpectedTurn = { text: [], end: 'failed' };
const overloaded: ExpectedTurn = { ...failed, end: 'limited', limit: { kind: 'overload' } };

describeRecordings(amp, {
  '0.0.1769314944-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '0.0.1769314944-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '0.0.1769314944-tool-write': {
    text: ['I will write a file.', done],
    usage: answers(2),
    tools: [{ ok: true }],
  },
  '0.0.1769314944-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '0.0.1769314944-multi-block': {
    text: ['First text block.', 'Part A. ', `Part B. ${done}`],
    usage: answers(2),
    tools: [
      { ok: true, exitCode: 0 },
      { ok: false, exitCode: 1 },
    ],
  },
  '0.0.1769314944-quoted-promise': {
    text: ['Not yet.'],
    usage: answers(2),
    tools: [{ ok: true, exitCode: 0 }],
  },
  // The prompt names the promise, and the stream tells the prompt back.
  '0.0.1769314944-prompt-echo': { text: ['Not yet.'], usage: answers(1) },
  '0.0.1769314944-subagent': {
    text: ['The helper is done, I am not.'],
    usage: answers(2),
    tools: [{ ok: true }],
  },
  '0.0.1769314944-todo': { text: [done], usage: answers(3), tools: [{ ok: false }, { ok: false }] },
  '0.0.1769314944-non-ascii': {
    text: ['Привет 👋🏽. ', nonAscii],
    usage: answers(2),
    tools: [{ ok: true, exitCode: 0 }],
  },
  '0.0.1769314944-big-output': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '0.0.1769314944-empty': { text: [] },
  '0.0.1769314944-err-400': failed,
  '0.0.1769314944-err-401': { ...failed, end: 'limited', limit: { kind: 'auth' } },
  '0.0.1769314944-err-429-forever': overloaded,
  '0.0.1769314944-err-500-forever': overloaded,
  '0.0.1769314944-err-529-forever': overloaded,
  '0.0.1769314944-err-middrop-then-ok': overloaded,
  '0.0.1769314944-err-usage-limit': overloaded,
  '0.0.1769314944-err-context': { ...failed, end: 'limited', limit: { kind: 'context' } },
  '0.0.1769314944-err-credit': { ...failed, end: 'limited', limit: { kind: 'quota' } },
  // The tool ran, but its result never came.
  '0.0.1769314944-err-after-tool': { ...failed, toolCalls: 1, usage: answers(1) },
  // Ended by SIGTERM: a failed result and exit code 0.
  '0.0.1769314944-terminated': {
    text: ['Wait.'],
    toolCalls: 1,
    end: 'inactive',
    cause: 'idle',
    usage: answers(1),
  },
});

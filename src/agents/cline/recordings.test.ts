import {
  answersOf,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { cline } from './agent.ts';

const answers = (count: number) => answersOf(count, 0);

const failed: ExpectedTurn = { text: [], end: 'failed', exitCode: 1, usage: answers(0) };
const limited = { ...failed, end: 'limited' } as const;
const cut = 'cut off by the output limi';

describeRecordings(cline, {
  '3.0.65-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '3.0.65-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  '3.0.65-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '3.0.65-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  // It has no such tool, and the model calls one all the same.
  '3.0.65-todo': { text: [done], usage: answers(3), tools: [{ ok: false }, { ok: false }] },
  '3.0.65-non-ascii': { text: ['Привет 👋🏽. ', nonAscii], usage: answers(2), tools: [{ ok: true }] },
  // The promise stands in the prompt, in the reasoning and in the output of a command that exits with 3.
  '3.0.65-quoted-promise': {
    text: ['Looking.', 'Part A. Not there yet.'],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  // The subagent promises and runs a command, in events like those of the agent itself.
  '3.0.65-subagent': {
    text: ['I ask a helper.', 'Parent goes on.'],
    usage: answers(4),
    tools: [{ ok: true }],
  },
  '3.0.65-denied': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: false }] },
  '3.0.65-max-tokens': { ...failed, text: [cut, cut, cut, cut], usage: answers(4) },
  '3.0.65-empty': { ...failed, usage: answers(3) },
  '3.0.65-err-400': failed,
  '3.0.65-err-401': { ...limited, limit: { kind: 'auth' } },
  '3.0.65-err-context': { ...limited, limit: { kind: 'context' } },
  // Retries are not told at all.
  '3.0.65-err-usage-limit': { text: [], end: 'timed-out', exitCode: null, cause: 'hard-timeout' },
  '3.0.65-err-after-tool': { ...failed, usage: answers(1), tools: [{ ok: true }] },
});

import { describeRecordings, done, type ExpectedTurn, nonAscii } from '../../../test/support/recordings.ts';
import { copilot } from './agent.ts';

const failed: ExpectedTurn = { text: [], end: 'failed', exitCode: 1 };
const limited = { ...failed, end: 'limited' } as const;

describeRecordings(copilot, {
  '1.0.102-text': { text: [`Hello from the mock. ${done}`] },
  '1.0.102-tool-ok': { text: [done], tools: [{ ok: true, exitCode: 0 }] },
  '1.0.102-tool-error': { text: [`The command failed. ${done}`], tools: [{ ok: false, exitCode: 3 }] },
  '1.0.102-tool-write': { text: ['I will write a file.', done], tools: [{ ok: true }] },
  // It has no such tool, and the model calls one all the same.
  '1.0.102-todo': { text: [done], tools: [{ ok: false }, { ok: false }] },
  '1.0.102-non-ascii': { text: ['Привет 👋🏽. ', nonAscii], tools: [{ ok: true, exitCode: 0 }] },
  // The promise stands in the prompt, in the reasoning and in the output of a command that exits with 3.
  '1.0.102-quoted-promise': {
    text: ['Looking.', 'Part A. Not there yet.'],
    tools: [{ ok: false, exitCode: 3 }],
  },
  // The subagent promises and runs a command.
  '1.0.102-subagent': { text: ['I ask a helper.', 'Parent goes on.'], tools: [{ ok: true }] },
  '1.0.102-denied': { text: ['I will write a file.', done], tools: [{ ok: false }] },
  // It asks for the rest, twice, and then takes what there is.
  '1.0.102-max-tokens': { text: ['cut off by the output limi'] },
  '1.0.102-empty': failed,
  '1.0.102-err-400': failed,
  '1.0.102-err-401': { ...limited, limit: { kind: 'auth' } },
  '1.0.102-err-context': { ...limited, limit: { kind: 'context' } },
  '1.0.102-err-credit': { ...limited, limit: { kind: 'quota' } },
  '1.0.102-err-usage-limit': { ...limited, limit: { kind: 'usage', resetsAt: 1_794_783_755_000 } },
});

import {
  answersOf,
  describeRecordings,
  done,
  type ExpectedTurn,
  nonAscii,
} from '../../../test/support/recordings.ts';
import { opencode } from './agent.ts';

const answers = (count: number) => answersOf(count, 0);

const failed: ExpectedTurn = { text: [], end: 'failed', exitCode: 1 };
const limited = { ...failed, end: 'limited' } as const;

/** The promise stands in the prompt, in the reasoning and in the output of a command that exits with 3. */
const quotedPromise: ExpectedTurn = {
  text: ['Looking.', 'Part A. Not there yet.'],
  usage: answers(2),
  tools: [{ ok: false, exitCode: 3 }],
};

/** In the middle the model sums up what it did, and what it was told to promise. */
const compaction: ExpectedTurn = {
  text: ['Working.', 'Not there yet.'],
  usage: { ...answers(4), inputTokens: 201_000 },
  tools: [
    { ok: true, exitCode: 0 },
    { ok: true, exitCode: 0 },
  ],
};

describeRecordings(opencode, {
  '1.18.33-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '1.18.33-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '1.18.33-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '1.18.33-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '1.18.33-todo': {
    text: [done],
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'done' },
      { text: 'Run tests', status: 'active' },
    ],
  },
  '1.18.33-non-ascii': {
    text: ['Привет 👋🏽. ', nonAscii],
    usage: answers(2),
    tools: [{ ok: true, exitCode: 0 }],
  },
  '1.18.33-big-output': { text: [done], usage: answers(2), tools: [{ ok: true, exitCode: 0 }] },
  '1.18.33-quoted-promise': quotedPromise,
  '1.18.33-compaction': compaction,
  // The subagent promises; its words come back as the output of a tool.
  '1.18.33-subagent': {
    text: ['I ask a helper.', 'Parent goes on.'],
    usage: answers(2),
    tools: [{ ok: true }],
  },
  '1.18.33-denied': { text: ['I may not.'], usage: answers(2), tools: [{ ok: false }] },
  '1.18.33-empty': { text: [], usage: answers(1) },
  '1.18.33-max-tokens': { ...failed, text: ['cut off by the output limi'], exitCode: 0, usage: answers(1) },
  '1.18.33-refusal': { ...failed, text: ['I cannot help.'], usage: answers(1) },
  '1.18.33-err-400': failed,
  '1.18.33-err-401': { ...limited, limit: { kind: 'auth' } },
  '1.18.33-err-429-then-ok': { text: [done], usage: answers(1) },
  '1.18.33-err-429-forever': { ...limited, limit: { kind: 'overload' } },
  '1.18.33-err-500-forever': { ...limited, limit: { kind: 'overload' } },
  '1.18.33-err-529-forever': { ...limited, limit: { kind: 'overload' } },
  '1.18.33-err-usage-limit': { ...limited, limit: { kind: 'usage', resetsAt: 1_794_772_484_000 } },
  // It compacts and tries again without end; after the second failure we stop it.
  '1.18.33-err-context': {
    ...limited,
    exitCode: null,
    cause: 'finished',
    usage: answers(1),
    limit: { kind: 'context' },
  },
  '1.18.33-err-after-tool': { ...failed, usage: answers(1), tools: [{ ok: true, exitCode: 0 }] },
  '1.2.27-quoted-promise': quotedPromise,
  '1.2.27-compaction': compaction,
});

import { answersOf, describeRecordings, done, nonAscii } from '../../../test/support/recordings.ts';
import { claude } from './agent.ts';

/** Only the price differs. */
const answers = (count: number, price = 0.00516) => answersOf(count, Number((price * count).toFixed(6)));

const older = 0.00665;
const resetsAt = 1_794_790_000_000;

describeRecordings(claude, {
  '2.1.325-text': { text: [`Hello from the mock. ${done}`], usage: answers(1) },
  '2.1.325-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  '2.1.325-tool-write': { text: ['I will write a file.', done], usage: answers(2), tools: [{ ok: true }] },
  '2.1.325-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '2.1.325-multi-block': {
    text: ['First text block.', 'Part A. ', `Part B. ${done}`],
    usage: answers(2),
    tools: [{ ok: true }, { ok: false, exitCode: 1 }],
  },
  '2.1.325-quoted-promise': { text: ['Not yet.'], usage: answers(2), tools: [{ ok: true }] },
  // The subagent says the promise and calls a tool of its own: neither counts, but its tokens do.
  '2.1.325-subagent': { text: ['The helper is done, I am not.'], usage: answers(4), tools: [{ ok: true }] },
  // Two results: the first comes while a command runs in the background, whose end wakes the agent again.
  '2.1.325-background': { text: ['Started it.', done], usage: answers(3), tools: [{ ok: true }] },
  '2.1.325-non-ascii': { text: ['Привет 👋🏽. ', nonAscii], usage: answers(2), tools: [{ ok: true }] },
  '2.1.325-big-output': { text: [done], usage: answers(2), tools: [{ ok: true }] },
  '2.1.325-noperm-tool-ok': { text: [done], usage: answers(2), tools: [{ ok: false }] },
  '2.1.325-todo-write': {
    text: [done],
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'active' },
      { text: 'Run tests', status: 'pending' },
    ],
  },
  '2.1.325-todo-tasks': {
    text: [done],
    usage: answers(3),
    tools: [{ ok: true }, { ok: true }, { ok: true }, { ok: true }],
    todo: [
      { text: 'Read the file', status: 'done' },
      { text: 'Edit the code', status: 'active' },
    ],
  },
  // The figures by model in this result hold the whole session; only one answer was this turn's.
  '2.1.325-resumed': { text: ['Two.'], usage: answers(1) },
  '2.1.325-stop-hook': { text: ['One.', 'Two.', 'Three.'], usage: answers(3) },
  '2.1.325-empty': { text: [], usage: answers(2) },

  '2.1.325-err-400': { text: [], end: 'failed', exitCode: 1, usage: answers(0) },
  '2.1.325-err-401': { text: [], end: 'limited', exitCode: 1, limit: { kind: 'auth' }, usage: answers(0) },
  '2.1.325-err-429-then-ok': { text: [done], usage: answers(1) },
  '2.1.325-err-429-forever': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'overload' },
    usage: answers(0),
  },
  '2.1.325-err-500-forever': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'overload' },
    usage: answers(0),
  },
  '2.1.325-err-529-forever': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'overload' },
    usage: answers(0),
  },
  '2.1.325-err-context': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'context' },
    usage: answers(0),
  },
  '2.1.325-err-credit': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'quota' },
    usage: answers(0),
  },
  '2.1.325-err-middrop-then-ok': { text: [done], usage: answers(1) },
  '2.1.325-err-after-tool': {
    text: [],
    end: 'failed',
    exitCode: 1,
    usage: answers(1),
    tools: [{ ok: true }],
  },
  // An API key's rate limit: no reset time in the stream.
  '2.1.325-err-usage-limit': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'overload' },
    usage: answers(0),
  },
  // A subscription's five-hour limit.
  '2.1.325-plan-limit': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'usage', resetsAt },
    usage: answers(0),
  },
  '2.1.325-max-tokens': {
    text: Array.from({ length: 4 }, () => 'cut off by the output limi'),
    end: 'failed',
    exitCode: 1,
    usage: answers(4),
  },
  '2.1.325-refusal': {
    text: ['I cannot help.', 'I cannot help.'],
    end: 'failed',
    exitCode: 1,
    usage: answers(2),
  },
  '2.1.325-max-turns': {
    text: [],
    end: 'failed',
    exitCode: 1,
    usage: answers(2),
    tools: [{ ok: true }, { ok: true }],
  },
  // Ended by SIGTERM: no result at all.
  '2.1.325-terminated': {
    text: ['Wait.'],
    end: 'inactive',
    exitCode: 143,
    cause: 'idle',
    tools: [{ ok: false, exitCode: 137 }],
  },
  // Ended by SIGINT: a failed result and exit code 0.
  '2.1.325-interrupted': {
    text: ['Wait.'],
    end: 'aborted',
    cause: 'stopped',
    usage: answers(1),
    tools: [{ ok: false }],
  },

  '2.1.197-tool-error': {
    text: [`The command failed. ${done}`],
    usage: answers(2, older),
    tools: [{ ok: false, exitCode: 3 }],
  },
  '2.1.197-subagent': {
    text: ['The helper is done, I am not.'],
    usage: answers(4, older),
    tools: [{ ok: true }],
  },
  '2.1.197-background': { text: ['Started it.', done], usage: answers(3, older), tools: [{ ok: true }] },
  '2.1.197-err-401': { text: [], end: 'limited', exitCode: 1, limit: { kind: 'auth' }, usage: answers(0) },
  '2.1.197-plan-limit': {
    text: [],
    end: 'limited',
    exitCode: 1,
    limit: { kind: 'usage', resetsAt },
    usage: answers(0),
  },
});

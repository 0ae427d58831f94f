import { describeRecordings, done, type ExpectedTurn } from '../../../test/support/recordings.ts';
import { parrot } from './agent.ts';

const usage = { inputTokens: 2000, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const failed: ExpectedTurn = { text: [], toolCalls: 0, end: 'failed', exitCode: 1 };

describeRecordings(parrot, {
  '1.4.0-tool-ok': { text: [done], toolCalls: 1, end: 'finished', usage, tools: [{ ok: true }] },
  // It tells no reset time: the loop waits by backoff.
  '1.4.0-err-usage-limit': { ...failed, end: 'limited', limit: { kind: 'overload' } },
  '1.4.0-err-401': { ...failed, end: 'limited', limit: { kind: 'auth' } },
});

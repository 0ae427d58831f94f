import { answersOf as answers, describeRecordings, done } from '../../../test/support/recordings.ts';
import { acpAgent } from './agent.ts';

const worked = { text: ['I will work.', done] } as const;
const refused = { tools: [{ ok: false }] } as const;

/** Gemini does not say which of the input came from the cache. */
const withCache = (count: number) => ({ ...answers(count), inputTokens: 1800 * count, cacheReadTokens: 0 });
const retry = 'Info: Request failed due to a transient API error. Retrying...';
const refusedKey = [
  'Error: Authentication failed with provider at http://127.0.0.1:38929/v1 (HTTP 401).',
  '  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.',
].join('\n');

describeRecordings(acpAgent('acp'), {
  'gemini-0.61.0-work': { ...worked, usage: withCache(3), tools: [{ ok: true }, { ok: true }] },
  'gemini-0.61.0-refused': { ...refused, text: ['It was refused.'], usage: withCache(2) },
  'gemini-0.61.0-err-401': { text: [], end: 'limited', limit: { kind: 'auth' } },
  'opencode-1.18.33-work': {
    ...worked,
    usage: answers(1, 0),
    tools: [{ ok: false, exitCode: 3 }, { ok: true }],
  },
  'opencode-1.18.33-refused': { ...refused, text: [], usage: answers(1, 0) },
  'copilot-1.0.102-work': {
    ...worked,
    text: ['I will work.', 'Info: /home/user/project/report.txt', done],
    usage: answers(3),
    tools: [{ ok: false, exitCode: 3 }, { ok: true }],
  },
  'copilot-1.0.102-err-401': {
    text: [retry, retry, refusedKey],
    end: 'limited',
    limit: { kind: 'auth' },
    usage: { inputTokens: 0, outputTokens: 79, cacheReadTokens: 0, cacheWriteTokens: 0, estimated: true },
  },
  'qwen-0.24.4-work': { ...worked, usage: answers(3), tools: [{ ok: false, exitCode: 3 }, { ok: true }] },
});

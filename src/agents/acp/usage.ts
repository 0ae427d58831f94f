import { addUsage, type Usage } from '../../core/turn.ts';
import { usageOf, usageWithCache } from '../events.ts';
import { asRecord, count, type JsonRecord } from '../json.ts';

/** Characters and cost of a turn so far, for agents that report no tokens. */
export type Tally = {
  /** Characters of tool output, which the model reads. */
  read: number;
  /** Characters of text and thinking, which it writes. */
  written: number;
  /** US dollars, as the agent reports them. */
  cost: number | undefined;
  /** Sum of what single messages reported. */
  messages?: Usage;
};

const charsPerToken = 4;

/** Returns the usage that the response to a prompt reports, or the messages before it did, or an estimate. */
export function usageIn({ usage, _meta: meta }: JsonRecord, tally: Tally): Usage {
  const { cost, messages } = tally;
  const withCost = cost === undefined ? {} : { costUsd: cost };
  const reported = tokensIn(usage) ?? messages ?? quotaIn(meta);
  if (reported !== undefined) return { ...reported, ...withCost };
  const input = Math.ceil(tally.read / charsPerToken);
  const output = Math.ceil(tally.written / charsPerToken);
  return { ...usageOf({ input, output, cost }), estimated: true };
}

/** Adds the usage of one message, which Qwen Code reports. */
export function addMessage({ _meta: meta }: JsonRecord, tally: Tally): void {
  const usage = tokensIn(asRecord(meta).usage);
  if (usage !== undefined) tally.messages = tally.messages ? addUsage(tally.messages, usage) : usage;
}

/** Reads tokens. Some agents count the cache as input and thinking as output, and the total tells. */
function tokensIn(usage: unknown): Usage | undefined {
  const { inputTokens, outputTokens, thoughtTokens, totalTokens, ...cached } = asRecord(usage);
  const sum = count(inputTokens) + count(outputTokens);
  if (sum === 0) return undefined;
  const { cachedReadTokens: cacheRead, cachedWriteTokens: cacheWrite } = cached;
  const tokens = { input: inputTokens, output: outputTokens, cacheRead, cacheWrite };
  if (count(totalTokens) === sum) return usageWithCache(tokens);
  return usageOf({ ...tokens, output: count(outputTokens) + count(thoughtTokens) });
}

/** Reads the tokens that Gemini CLI reports. */
function quotaIn(meta: unknown): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = asRecord(asRecord(asRecord(meta).quota).token_count);
  return count(input) + count(output) === 0 ? undefined : usageOf({ input, output });
}

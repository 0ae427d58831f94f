import { asRecord, type JsonRecord, list, str } from '../../../src/agents/json.ts';
import { allInput, blocksOf, eventsOf, pieces, type Reply, type ReplyBlock, type WireApi } from './wire.ts';

/** Google's Gemini API. */
export const gemini: WireApi = {
  name: 'gemini',
  namedEvents: false,
  serves: (path) => /:(?:stream)?generateContent$/i.test(path),
  tools: (body) =>
    list(body.tools)
      .flatMap((tool) => list(asRecord(tool).functionDeclarations))
      .map((declaration) => {
        const { name, parameters, parametersJsonSchema } = asRecord(declaration);
        return { name: str(name) ?? '', schema: asRecord(parametersJsonSchema ?? parameters) };
      }),
  answer(reply) {
    const finish = { finishReason: reply.stop ? finishReasons[reply.stop] : 'STOP' };
    const piece = (parts: readonly JsonRecord[], more: JsonRecord = {}): JsonRecord => ({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
      modelVersion: reply.model,
      responseId: reply.id,
    });
    return {
      whole: { ...piece(blocksOf(reply).map(partOf), finish), usageMetadata: usageOf(reply) },
      events: eventsOf(reply, (block) => partsOf(block).map((part) => piece([part]))),
      end: [{ data: { ...piece([{ text: '' }], finish), usageMetadata: usageOf(reply) } }],
    };
  },
  errorBody: ({ status, type = 'INTERNAL', message = 'scripted error' }) => ({
    error: { code: status, message, status: type },
  }),
  limit(resetsAt) {
    const seconds = Math.max(0, Math.ceil((resetsAt - Date.now()) / 1000));
    const violation = {
      quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
      quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
      quotaValue: '50',
    };
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [violation] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` },
    ];
    const message = 'You exceeded your current quota, please check your plan and billing details.';
    return { status: 429, body: { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } } };
  },
};

const finishReasons = { 'max-tokens': 'MAX_TOKENS', refusal: 'SAFETY' };

function partOf(block: ReplyBlock): JsonRecord {
  if (block.kind === 'text') return { text: block.text };
  if (block.kind === 'thinking') return { text: block.text, thought: true };
  const { name, input, id } = block;
  return { functionCall: { id: `call_${id}`, name, args: input }, thoughtSignature: 'c2NyaXB0ZWQ=' };
}

/** Only text comes in pieces. */
function partsOf(block: ReplyBlock): JsonRecord[] {
  return block.kind === 'call'
    ? [partOf(block)]
    : pieces(block.text).map((text) => ({ ...partOf(block), text }));
}

function usageOf(reply: Reply): JsonRecord {
  const { outputTokens, cacheReadTokens } = reply.usage;
  return {
    promptTokenCount: allInput(reply),
    candidatesTokenCount: outputTokens,
    totalTokenCount: allInput(reply) + outputTokens,
    cachedContentTokenCount: cacheReadTokens,
  };
}

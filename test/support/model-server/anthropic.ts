import { asRecord, type JsonRecord, list, str } from '../../../src/agents/json.ts';
import { blocksOf, eventsOf, makesCalls, pieces, type Reply, type ReplyBlock, type WireApi } from './wire.ts';

/** Anthropic's Messages API. */
export const anthropic: WireApi = {
  name: 'anthropic',
  namedEvents: true,
  serves: (path) => path.endsWith('/messages'),
  tools: (body) =>
    list(body.tools).map((tool) => {
      const { name, type, input_schema } = asRecord(tool);
      return { name: str(name) ?? str(type) ?? '', schema: asRecord(input_schema) };
    }),
  answer(reply) {
    const message = messageOf(reply);
    const start = {
      ...message,
      content: [],
      stop_reason: null,
      usage: { ...message.usage, output_tokens: 1 },
    };
    return {
      whole: message,
      events: [{ data: { type: 'message_start', message: start } }, ...eventsOf(reply, blockEvents)],
      end: [
        {
          data: {
            type: 'message_delta',
            delta: { stop_reason: message.stop_reason, stop_sequence: null },
            usage: message.usage,
          },
        },
        { data: { type: 'message_stop' } },
      ],
    };
  },
  errorBody: ({ type = 'api_error', message = 'scripted error' }) => ({
    type: 'error',
    error: { type, message },
  }),
  limit(resetsAt) {
    const reset = String(Math.floor(resetsAt / 1000));
    return {
      status: 429,
      type: 'rate_limit_error',
      message: "This request would exceed your account's rate limit. Please try again later.",
      headers: {
        'x-should-retry': 'false',
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': reset,
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-reset': reset,
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
        'anthropic-ratelimit-unified-overage-status': 'rejected',
      },
    };
  },
};

const stopReasons = { 'max-tokens': 'max_tokens', refusal: 'refusal' };

function messageOf(reply: Reply) {
  const { usage, stop } = reply;
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: blocksOf(reply).map(contentOf),
    stop_reason: stop ? stopReasons[stop] : makesCalls(reply) ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage.inputTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      output_tokens: usage.outputTokens,
    },
  };
}

function contentOf(block: ReplyBlock): JsonRecord {
  if (block.kind === 'text') return { type: 'text', text: block.text };
  if (block.kind === 'thinking') return { type: 'thinking', thinking: block.text, signature: 'c2NyaXB0ZWQ=' };
  return { type: 'tool_use', id: `toolu_${block.id}`, name: block.name, input: block.input };
}

function blockEvents(block: ReplyBlock): JsonRecord[] {
  const { index } = block;
  const delta = (change: JsonRecord): JsonRecord => ({ type: 'content_block_delta', index, delta: change });
  const around = (content_block: JsonRecord, deltas: JsonRecord[]): JsonRecord[] => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map(delta),
    { type: 'content_block_stop', index },
  ];
  if (block.kind === 'text') {
    const deltas = pieces(block.text).map((text) => ({ type: 'text_delta', text }));
    return around({ type: 'text', text: '' }, deltas);
  }
  if (block.kind === 'thinking') {
    const deltas = pieces(block.text).map((thinking) => ({ type: 'thinking_delta', thinking }));
    const signature = { type: 'signature_delta', signature: 'c2NyaXB0ZWQ=' };
    return around({ type: 'thinking', thinking: '', signature: '' }, [...deltas, signature]);
  }
  return around({ ...contentOf(block), input: {} }, [
    { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
  ]);
}

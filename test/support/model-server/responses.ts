import { asRecord, type JsonRecord, list, str } from '../../../src/agents/json.ts';
import { openAiErrorBody, openAiLimit } from './openai-error.ts';
import {
  allInput,
  blocksOf,
  eventsOf,
  pieces,
  type Reply,
  type ReplyBlock,
  type WireApi,
  type WireEvent,
} from './wire.ts';

/** OpenAI's Responses API. */
export const responses: WireApi = {
  name: 'responses',
  namedEvents: true,
  serves: (path) => path.endsWith('/responses'),
  tools: (body) =>
    list(body.tools).map((tool) => {
      const { name, type, parameters } = asRecord(tool);
      return {
        name: str(name) ?? str(type) ?? '',
        schema: asRecord(parameters),
        freeForm: type === 'custom',
      };
    }),
  answer(reply) {
    const { stop } = reply;
    const head = { id: `resp_${reply.id}`, object: 'response', created_at: 0, model: reply.model };
    const begun = { ...head, status: 'in_progress', output: [] };
    const whole = {
      ...head,
      status: stop ? 'incomplete' : 'completed',
      ...(stop ? { incomplete_details: { reason: incompleteReasons[stop] } } : {}),
      output: blocksOf(reply).map(itemOf),
      usage: usageOf(reply),
    };
    const events: WireEvent[] = [
      { data: { type: 'response.created', response: begun } },
      ...eventsOf(reply, itemEvents),
    ];
    const end = { data: { type: `response.${whole.status}`, response: whole } };
    return { whole, events: numbered(events), end: numbered([end], events.length) };
  },
  errorBody: openAiErrorBody,
  limit: openAiLimit,
};

const incompleteReasons = { 'max-tokens': 'max_output_tokens', refusal: 'content_filter' };

function numbered(events: readonly WireEvent[], first = 0): WireEvent[] {
  return events.map((event, i) =>
    'data' in event && event.data !== '[DONE]'
      ? { data: { ...event.data, sequence_number: first + i } }
      : event,
  );
}

function itemOf(block: ReplyBlock): JsonRecord {
  const { id } = block;
  if (block.kind === 'text') {
    const content = [{ type: 'output_text', text: block.text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  }
  if (block.kind === 'thinking') {
    return { type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: block.text }] };
  }
  const call = { status: 'completed', call_id: `call_${id}`, name: block.name };
  return typeof block.input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...call, input: block.input }
    : { type: 'function_call', id: `fc_${id}`, ...call, arguments: JSON.stringify(block.input) };
}

function itemEvents(block: ReplyBlock): JsonRecord[] {
  const item = itemOf(block);
  const place = { item_id: item.id, output_index: block.index };
  const around = (empty: JsonRecord, inside: JsonRecord[]): JsonRecord[] => [
    { type: 'response.output_item.added', output_index: block.index, item: { ...item, ...empty } },
    ...inside.map((event) => ({ ...event, ...place })),
    { type: 'response.output_item.done', output_index: block.index, item },
  ];
  if (block.kind === 'text') return around({ status: 'in_progress', content: [] }, textEvents(block.text));
  if (block.kind === 'thinking') return around({ summary: [] }, summaryEvents(block.text));
  if (typeof block.input === 'string') return around({ status: 'in_progress', input: '' }, []);
  return around({ status: 'in_progress', arguments: '' }, [
    { type: 'response.function_call_arguments.delta', delta: JSON.stringify(block.input) },
    { type: 'response.function_call_arguments.done', arguments: JSON.stringify(block.input) },
  ]);
}

function textEvents(text: string): JsonRecord[] {
  const part = { type: 'output_text', text: '', annotations: [] };
  const events = [
    { type: 'response.content_part.added', part },
    ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', delta })),
    { type: 'response.output_text.done', text },
    { type: 'response.content_part.done', part: { ...part, text } },
  ];
  return events.map((event) => ({ ...event, content_index: 0 }));
}

function summaryEvents(text: string): JsonRecord[] {
  const part = { type: 'summary_text', text: '' };
  const events = [
    { type: 'response.reasoning_summary_part.added', part },
    ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', delta })),
    { type: 'response.reasoning_summary_text.done', text },
    { type: 'response.reasoning_summary_part.done', part: { ...part, text } },
  ];
  return events.map((event) => ({ ...event, summary_index: 0 }));
}

function usageOf(reply: Reply): JsonRecord {
  const { outputTokens, cacheReadTokens } = reply.usage;
  return {
    input_tokens: allInput(reply),
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: allInput(reply) + outputTokens,
  };
}

import { asRecord, type JsonRecord, list, str } from '../../../src/agents/json.ts';
import { openAiErrorBody, openAiLimit } from './openai-error.ts';
import {
  allInput,
  blocksOf,
  eventsOf,
  makesCalls,
  pieces,
  type Reply,
  type ReplyBlock,
  type WireApi,
} from './wire.ts';

/** OpenAI's Chat Completions API, which many others speak too. */
export const chat: WireApi = {
  name: 'chat',
  namedEvents: false,
  serves: (path) => path.endsWith('/chat/completions'),
  tools: (body) =>
    list(body.tools).map((tool) => {
      const { name, parameters } = asRecord(asRecord(tool).function);
      return { name: str(name) ?? '', schema: asRecord(parameters) };
    }),
  answer(reply) {
    const finish = finishOf(reply);
    const usage = usageOf(reply);
    const calls = callsOf(reply);
    const chunk = (delta: JsonRecord, finish_reason: string | null = null): JsonRecord => ({
      ...headOf(reply, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason }],
    });
    const deltas = (block: ReplyBlock): JsonRecord[] => {
      if (block.kind === 'text') return pieces(block.text).map((content) => ({ content }));
      if (block.kind === 'thinking')
        return pieces(block.text).map((reasoning_content) => ({ reasoning_content }));
      return calls.filter(({ id }) => id === callId(block)).map((call) => ({ tool_calls: [call] }));
    };
    return {
      whole: {
        ...headOf(reply, 'chat.completion'),
        choices: [{ index: 0, message: messageOf(reply, calls), finish_reason: finish }],
        usage,
      },
      events: [
        { data: chunk({ role: 'assistant', content: '' }) },
        ...eventsOf(reply, (block) => deltas(block).map((delta) => chunk(delta))),
      ],
      end: [
        { data: chunk({}, finish) },
        { data: { ...headOf(reply, 'chat.completion.chunk'), choices: [], usage } },
        { data: '[DONE]' },
      ],
    };
  },
  errorBody: openAiErrorBody,
  limit: openAiLimit,
};

const finishReasons = { 'max-tokens': 'length', refusal: 'content_filter' };

function finishOf(reply: Reply): string {
  if (reply.stop) return finishReasons[reply.stop];
  return makesCalls(reply) ? 'tool_calls' : 'stop';
}

function headOf({ id, model }: Reply, object: string): JsonRecord {
  return { id: `chatcmpl-${id}`, object, created: 0, model };
}

function messageOf(reply: Reply, calls: readonly JsonRecord[]): JsonRecord {
  const content = blocksOf(reply).map((block) => (block.kind === 'text' ? block.text : ''));
  return {
    role: 'assistant',
    content: content.join(''),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function callsOf(reply: Reply): JsonRecord[] {
  const calls = blocksOf(reply).filter((block) => block.kind === 'call');
  return calls.map((block, index) => ({
    index,
    id: callId(block),
    type: 'function',
    function: { name: block.name, arguments: JSON.stringify(block.input) },
  }));
}

function callId({ id }: ReplyBlock): string {
  return `call_${id}`;
}

function usageOf(reply: Reply): JsonRecord {
  const { outputTokens, cacheReadTokens } = reply.usage;
  return {
    prompt_tokens: allInput(reply),
    completion_tokens: outputTokens,
    total_tokens: allInput(reply) + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
  };
}

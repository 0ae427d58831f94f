import type { Usage } from '../../core/turn.ts';
import type { Ids, ToolEnd, TurnWriter } from './format.ts';

type Options = {
  readonly ids: Ids;
  readonly session: string;
  /** Other fields of a message of the assistant, such as its usage. */
  messageFields(): object;
  /** Content of a tool's result, and whether it is an error. */
  reply(end: ToolEnd): readonly [content: string, isError: boolean];
};

/** Writes messages in the format of the Anthropic API, the stream of Claude Code, Amp and Qwen Code. */
export function anthropicMessages({ ids, session, messageFields, reply }: Options) {
  const event = (role: string, block: object, fields: object, parent: string | null = null) => ({
    type: role,
    message: { role, content: [block], ...fields },
    parent_tool_use_id: parent,
    session_id: session,
  });
  const assistant = (block: object, parent?: string) =>
    event('assistant', block, { type: 'message', ...messageFields() }, parent);
  const user = (block: object) => event('user', block, {});
  return {
    text: (parts) => parts.map((text) => assistant({ type: 'text', text })),
    thinking: (thinking) => [assistant({ type: 'thinking', thinking, signature: 'ZmFrZQ==' })],
    toolStart: ({ id, name, input }) => [assistant({ type: 'tool_use', id, name, input })],
    toolEnd({ id }, end) {
      const [content, isError] = reply(end);
      return [user({ type: 'tool_result', tool_use_id: id, content, is_error: isError })];
    },
    subagent: (text) => [assistant({ type: 'text', text }, ids.id('toolu_fake'))],
    echo: (text) => [user({ type: 'text', text })],
  } satisfies Partial<TurnWriter>;
}

export function anthropicUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

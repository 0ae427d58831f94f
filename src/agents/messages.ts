import type { Usage } from '../core/turn.ts';
import type { AgentEvent, ParserState } from './adapter.ts';
import { sessionEvent, textOf, todoEvent, toolStart, usageOf } from './events.ts';
import { asRecord, type JsonRecord, list, str } from './json.ts';

// Messages of the Anthropic API, the format of Claude Code, Amp and Qwen Code.

export type ToolResult = { readonly id: string; readonly ok: boolean; readonly output: string };

/** State of a parser that has to know whether a message had text. */
export type SpeakerState = ParserState & { spoke: boolean };

/** Reads text and tool calls of an assistant message, and skips thinking. */
export function readAssistant(message: JsonRecord): AgentEvent[] {
  return list(message.content).flatMap((item): AgentEvent[] => {
    const { type, text, id, name, input } = asRecord(item);
    if (type === 'text') return [{ type, text: str(text) ?? '' }];
    if (type !== 'tool_use') return [];
    const { todos } = asRecord(input);
    const hasList = /^todo_?write$/i.test(str(name) ?? '') && Array.isArray(todos);
    return [toolStart(id, name, input), ...(hasList ? [todoEvent(todos)] : [])];
  });
}

/** Reads a system message: of Amp and Qwen Code only the one at the start is known. */
export function readSystem({ subtype, session_id, model }: JsonRecord): AgentEvent {
  if (subtype === 'init') return sessionEvent(session_id, model);
  return { type: 'unknown', name: `system/${str(subtype) ?? ''}` };
}

/** Reads the tool results in a user message, and skips its prompts. */
export function readToolResults(message: JsonRecord): ToolResult[] {
  return list(message.content)
    .map(asRecord)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({
      id: str(block.tool_use_id) ?? '',
      ok: block.is_error !== true,
      output: textOf(block.content),
    }));
}

export function readUsage(usage: JsonRecord): Usage {
  return usageOf(tokensIn(usage));
}

/** Returns the token counts of a message by our names. */
export function tokensIn(usage: JsonRecord) {
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
  };
}

/** Returns the answer in a good result. It repeats the last message, so that it counts only if no message had text. */
export function answerIn({ result }: JsonRecord, { spoke }: SpeakerState): AgentEvent[] {
  const text = str(result);
  return text && !spoke ? [{ type: 'text', text }] : [];
}

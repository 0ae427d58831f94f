import type { Usage } from '../core/turn.ts';
import type { AgentEvent, TodoItem } from './adapter.ts';
import { asRecord, count, type JsonRecord, list, str } from './json.ts';
import { summarise } from './summary.ts';

/** Tool result in a message of the Anthropic API, the format of Claude Code, Amp and Qwen Code. */
export type ToolResult = { readonly id: string; readonly failed: boolean; readonly output: string };

/** Reads text and tool calls of an assistant message, and skips thinking. */
export function readAssistant(message: JsonRecord): AgentEvent[] {
  return list(message.content).flatMap((item): AgentEvent[] => {
    const block = asRecord(item);
    if (block.type === 'text') return [{ type: 'text', text: str(block.text) ?? '' }];
    if (block.type !== 'tool_use') return [];
    const name = str(block.name) ?? 'tool';
    const start: AgentEvent = {
      type: 'tool-start',
      id: str(block.id) ?? '',
      name,
      summary: summarise(block.input),
    };
    const items = /^todo_?write$/i.test(name) ? readTodos(asRecord(block.input).todos) : undefined;
    return items === undefined ? [start] : [start, { type: 'todo', items }];
  });
}

/** Reads a system message: of Amp and Qwen Code only the one at the start is known. */
export function readSystem(event: JsonRecord): AgentEvent {
  if (event.subtype === 'init') return sessionEvent(event);
  return { type: 'unknown', name: `system/${str(event.subtype) ?? ''}` };
}

/** Returns the event that names the agent's session, and its model where the CLI says it. */
export function sessionEvent({ session_id, model }: JsonRecord): AgentEvent {
  const id = str(session_id) ?? '';
  const name = str(model);
  return name === undefined ? { type: 'session', id } : { type: 'session', id, model: name };
}

/** Returns the size of the context, from the usage of one request. */
export function contextOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): AgentEvent[] {
  const tokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  return tokens === 0 ? [] : [{ type: 'context', size: { tokens } }];
}

/** Turns texts and tool calls into events of a subagent. */
export function asSubagent(events: readonly AgentEvent[]): AgentEvent[] {
  return events.flatMap((event): AgentEvent[] => {
    if (event.type === 'text') return [{ type: 'subagent', text: event.text }];
    return event.type === 'tool-start'
      ? [{ type: 'subagent', text: `${event.name} ${event.summary}`.trim() }]
      : [];
  });
}

/** Makes the end of a tool call; a known exit code decides whether it succeeded. */
export function toolEnd({ id, failed, output }: ToolResult, exitCode?: number): AgentEvent {
  const ok = !failed && (exitCode ?? 0) === 0;
  return exitCode === undefined
    ? { type: 'tool-end', id, ok, output }
    : { type: 'tool-end', id, ok, exitCode, output };
}

/** Reads the tool results in a user message, and skips its prompts. */
export function readToolResults(message: JsonRecord): ToolResult[] {
  return list(message.content)
    .map(asRecord)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({
      id: str(block.tool_use_id) ?? '',
      failed: block.is_error === true,
      output: textOf(block.content),
    }));
}

/** Returns the text of a content field: a string, or blocks of which some are text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((block) => str(asRecord(block).text))
    .filter((text) => text !== undefined)
    .join('\n');
}

export function readUsage(usage: JsonRecord): Usage {
  return {
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    cacheReadTokens: count(usage.cache_read_input_tokens),
    cacheWriteTokens: count(usage.cache_creation_input_tokens),
  };
}

export function todoStatus(status: unknown): TodoItem['status'] {
  if (status === 'completed') return 'done';
  return status === 'in_progress' ? 'active' : 'pending';
}

function readTodos(todos: unknown): TodoItem[] | undefined {
  if (!Array.isArray(todos)) return undefined;
  return list(todos).map((item) => {
    const { content, status } = asRecord(item);
    return { text: str(content) ?? '', status: todoStatus(status) };
  });
}

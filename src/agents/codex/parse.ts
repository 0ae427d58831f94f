import { oneLine } from '../../core/text.ts';
import type { Limit, Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asRecord, count, int, type JsonRecord, list, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { limitOf, readError } from '../limit.ts';
import { textOf } from '../messages.ts';
import { resetTimeIn } from '../reset-time.ts';
import { summarise } from '../summary.ts';

export type CodexState = ParserState & {
  /** Tool calls with a start event. Some, such as a web search, have only an end event. */
  readonly running: Set<string>;
};

export function newState(): CodexState {
  return { running: new Set() };
}

export const parse = jsonLines((event, type, state: CodexState) => {
  switch (type) {
    case 'thread.started':
      return [{ type: 'session', id: str(event.thread_id) ?? '' }];
    case 'turn.started':
      return [];
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return onItem(asRecord(event.item), type, state);
    case 'turn.completed':
      return [{ type: 'result', ok: true, ...readUsage(event.usage, state) }];
    case 'turn.failed': {
      const { message: error, ...rest } = readFailure(asRecord(event.error).message, state);
      return [{ type: 'result', ok: false, error, ...rest }];
    }
    // Also sent at every retry ("Reconnecting... 1/2 (…)"), so it never ends the turn.
    case 'error':
      return [{ type: 'error', ...readFailure(event.message, state) }];
  }
  return [{ type: 'unknown', name: type }];
});

const tools = new Set([
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
]);

function onItem(item: JsonRecord, phase: string, state: CodexState): AgentEvent[] {
  const type = str(item.type) ?? '';
  if (tools.has(type)) return onTool(item, type, phase, state);
  // The list comes again at the end of the turn, unchanged.
  if (type === 'todo_list')
    return phase === 'item.completed' ? [] : [{ type: 'todo', items: readTodos(item) }];
  if (phase !== 'item.completed' || type === 'reasoning') return [];
  if (type === 'agent_message') return [{ type: 'text', text: str(item.text) ?? '' }];
  // A warning; errors have their own event.
  if (type === 'error') return [{ type: 'notice', text: oneLine(str(item.message) ?? '') }];
  return [{ type: 'unknown', name: `item/${type}` }];
}

function onTool(item: JsonRecord, type: string, phase: string, state: CodexState): AgentEvent[] {
  const id = str(item.id) ?? '';
  const events: AgentEvent[] = [];
  if (!state.running.has(id)) {
    state.running.add(id);
    events.push({ type: 'tool-start', id, ...describeTool(item, type) });
  }
  if (phase !== 'item.completed') return events;
  state.running.delete(id);
  const exitCode = int(item.exit_code);
  events.push({
    type: 'tool-end',
    id,
    ok: (item.status ?? 'completed') === 'completed' && (exitCode ?? 0) === 0,
    ...(exitCode === undefined ? {} : { exitCode }),
    output: outputOf(item, type),
  });
  return events;
}

function describeTool(item: JsonRecord, type: string): { name: string; summary: string } {
  switch (type) {
    case 'command_execution':
      return { name: 'shell', summary: oneLine(withoutShell(str(item.command) ?? '')) };
    case 'file_change':
      return { name: 'apply_patch', summary: oneLine(pathsOf(item).join(', ')) };
    case 'mcp_tool_call':
      return {
        name: `${str(item.server) ?? 'mcp'}.${str(item.tool) ?? ''}`,
        summary: summarise(item.arguments),
      };
    case 'collab_tool_call':
      return { name: str(item.tool) ?? type, summary: oneLine(str(item.prompt) ?? '') };
  }
  return { name: type, summary: summarise(item) };
}

/** Unwraps `/bin/bash -lc '…'`. */
function withoutShell(command: string): string {
  return /^\S*sh -l?c (["'])(.*)\1$/s.exec(command)?.[2] ?? command;
}

function outputOf(item: JsonRecord, type: string): string {
  if (type === 'file_change') return pathsOf(item).join('\n');
  const result = textOf(asRecord(item.result).content);
  return str(item.aggregated_output) || str(asRecord(item.error).message) || result;
}

function pathsOf(item: JsonRecord): string[] {
  return list(item.changes).map((change) => str(asRecord(change).path) ?? '');
}

function readTodos(item: JsonRecord) {
  return list(item.items).map((entry) => {
    const { text, completed } = asRecord(entry);
    return { text: str(text) ?? '', status: completed === true ? ('done' as const) : ('pending' as const) };
  });
}

/**
 * Reads the usage: `input_tokens` includes the cached ones, `output_tokens` the reasoning. In a resumed thread it is the
 * sum over all turns, and useless for this one.
 */
function readUsage(usage: unknown, { resumed }: CodexState): { usage?: Usage } {
  if (usage === undefined || resumed) return {};
  const fields = asRecord(usage);
  const cacheReadTokens = count(fields.cached_input_tokens);
  const cacheWriteTokens = count(fields.cache_write_input_tokens);
  return {
    usage: {
      inputTokens: Math.max(0, count(fields.input_tokens) - cacheReadTokens - cacheWriteTokens),
      outputTokens: count(fields.output_tokens),
      cacheReadTokens,
      cacheWriteTokens,
    },
  };
}

/** Reads an error that has only a message: a sentence, or the body of the API's answer. */
function readFailure(value: unknown, state: CodexState): { message: string; limit?: Limit } {
  const text = str(value) ?? '';
  const facts = readError(text);
  const message = facts.message || text;
  // A filter or the output limit cut the answer; the rest of the message reads like a lost connection.
  if (/incomplete response returned/i.test(text)) return { message };
  // The message for any status 500, which it does not name.
  const status = /experiencing high demand/i.test(text) ? 500 : facts.status;
  const limit = limitOf({ ...facts, status, resetsAt: resetTimeIn(text, state.now) });
  return { message, ...(limit === undefined ? {} : { limit }) };
}

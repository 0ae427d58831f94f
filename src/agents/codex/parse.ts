import { oneLine } from '../../core/text.ts';
import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { failedResult, sessionEvent, textOf, toolEnd, toolStart, usageWithCache } from '../events.ts';
import { asRecord, int, type JsonRecord, list, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type Failure, failureOf, readError } from '../limit.ts';
import { resetTimeIn } from '../reset-time.ts';

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
      return [sessionEvent(event.thread_id)];
    case 'turn.started':
      return [];
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return onItem(asRecord(event.item), type, state);
    case 'turn.completed':
      return [{ type: 'result', ok: true, ...readUsage(event.usage, state) }];
    case 'turn.failed':
      return [failedResult(readFailure(asRecord(event.error).message, state))];
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
    events.push(toolStart(id, ...nameAndInput(item, type)));
  }
  if (phase !== 'item.completed') return events;
  state.running.delete(id);
  const ok = (item.status ?? 'completed') === 'completed';
  return [...events, toolEnd(id, { ok, exitCode: int(item.exit_code), output: outputOf(item, type) })];
}

function nameAndInput(item: JsonRecord, type: string): [name: string, input: unknown] {
  switch (type) {
    case 'command_execution':
      return ['shell', withoutShell(str(item.command) ?? '')];
    case 'file_change':
      return ['apply_patch', pathsOf(item).join(', ')];
    case 'mcp_tool_call':
      return [`${str(item.server) ?? 'mcp'}.${str(item.tool) ?? ''}`, item.arguments];
    case 'collab_tool_call':
      return [str(item.tool) ?? type, str(item.prompt)];
  }
  return [type, item];
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
  const tokens = {
    input: fields.input_tokens,
    output: fields.output_tokens,
    cacheRead: fields.cached_input_tokens,
    cacheWrite: fields.cache_write_input_tokens,
  };
  return { usage: usageWithCache(tokens) };
}

/** Reads an error that has only a message: a sentence, or the body of the API's answer. */
function readFailure(value: unknown, state: CodexState): Failure {
  const text = str(value) ?? '';
  const facts = readError(text);
  const message = facts.message || text;
  // A filter or the output limit cut the answer; the rest of the message reads like a lost connection.
  if (/incomplete response returned/i.test(text)) return { message };
  // The message for any status 500, which it does not name.
  const status = /experiencing high demand/i.test(text) ? 500 : facts.status;
  return failureOf(message, { ...facts, status, resetsAt: resetTimeIn(text, state.now) });
}

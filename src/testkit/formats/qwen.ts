import type { Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';
import {
  type AgentFormat,
  createIds,
  type Ids,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  todoStatus,
  usageOnce,
} from './format.ts';

const version = '0.15.10';
const model = 'fake-model';

/** `qwen -o stream-json`, as 0.15.10 prints it. An API error looks like an answer, except for its text. */
export const qwen: AgentFormat = {
  version,
  streamWords: ['stream-json'],
  exitCode: () => 0,
  open({ cwd, turn, usage: total }) {
    const ids = createIds(turn);
    const { assistant, user, messageCount } = createMessages(ids, total);
    let toolId = '';
    let lastText = '';

    const toolUse = (name: string, input: object) => {
      toolId = ids.id('call_fake');
      return lines(assistant({ type: 'tool_use', id: toolId, name, input }));
    };
    const toolResult = (content: string, isFailure: boolean) =>
      lines(user({ type: 'tool_result', tool_use_id: toolId, is_error: isFailure, content }));

    return {
      ...silent,
      start: () => lines(init(cwd, ids.session)),
      text(parts) {
        lastText = parts.at(-1) ?? '';
        return lines(...parts.map((text) => assistant({ type: 'text', text })));
      },
      thinking: (thinking) => lines(assistant({ type: 'thinking', thinking, signature: '' })),
      toolStart: (call) => toolUse(...nameAndInput(call)),
      toolEnd: (call, end) => toolResult(...reply(call, end)),
      todo(items) {
        const todos = items.map(({ text, status }, index) => ({
          id: `${index + 1}`,
          content: text,
          status: todoStatus(status),
          priority: 'medium',
        }));
        return toolUse('todo_write', { todos }) + toolResult('Todos have been modified successfully.', false);
      },
      subagent: (text) => lines(assistant({ type: 'text', text }, ids.id('call_fake'))),
      error(error) {
        lastText = errorText(error);
        return lines(assistant({ type: 'text', text: lastText }));
      },
      result: ({ ok, error, usage }) =>
        lines({
          type: 'result',
          subtype: 'success',
          uuid: ids.uuid(),
          session_id: ids.session,
          is_error: !ok && error === undefined,
          duration_ms: 200,
          duration_api_ms: 100,
          num_turns: messageCount(),
          result: lastText,
          usage: usageFields(usage),
          permission_denials: [],
        }),
    };
  },
};

function init(cwd: string, session: string): object {
  return {
    type: 'system',
    subtype: 'init',
    uuid: session,
    session_id: session,
    cwd,
    tools: ['edit', 'read_file', 'run_shell_command', 'todo_write', 'write_file'],
    mcp_servers: [],
    model,
    permission_mode: 'yolo',
    slash_commands: [],
    qwen_code_version: version,
    agents: ['general-purpose'],
  };
}

/** Makes the messages of one turn. */
function createMessages(ids: Ids, total: Usage) {
  const usage = usageOnce(total);
  let count = 0;
  const event = (type: string, uuid: string, message: object, parent: string | null = null) => ({
    type,
    uuid,
    session_id: ids.session,
    parent_tool_use_id: parent,
    message,
  });
  return {
    messageCount: () => count,
    assistant(block: { readonly type: string; readonly [field: string]: unknown }, parent?: string) {
      count += 1;
      const id = ids.uuid();
      const message = {
        id,
        type: 'message',
        role: 'assistant',
        model,
        content: [block],
        stop_reason: block.type === 'tool_use' ? 'tool_use' : null,
        usage: usageFields(usage()),
      };
      return event('assistant', id, message, parent);
    },
    user: (block: object) => event('user', ids.uuid(), { role: 'user', content: [block] }),
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell')
    return ['run_shell_command', { command: call.command, description: 'Run a command' }];
  if (call.kind === 'write') return ['write_file', { file_path: call.path, content: call.content }];
  return [call.name, call.input];
}

/** A command that fails is no error here, and has no exit code. */
function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): [content: string, failed: boolean] {
  if (exitCode !== undefined) return [output.trimEnd(), false];
  if (ok && call.kind === 'write')
    return [`Successfully created and wrote to new file: ${call.path}.`, false];
  return [output, !ok];
}

function usageFields(usage: Usage): object {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: input,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    total_tokens: input + usage.outputTokens,
  };
}

function errorText({ status, message }: ApiError): string {
  return `[API Error: ${status} ${message}]`;
}

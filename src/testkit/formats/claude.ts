import { totalTokens, type Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';
import { errorType, isTooLong } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  type Ids,
  lines,
  type ToolCall,
  type ToolEnd,
  type TurnResult,
  todoStatus,
} from './format.ts';

const version = '2.1.325';
const model = 'claude-opus-5-5';

/** `claude -p --output-format stream-json --verbose`, as 2.1.325 prints it. */
export const claude: AgentFormat = {
  version: `${version} (Claude Code)`,
  streamWords: ['stream-json'],
  exitCode: () => 1,
  open({ cwd, turn, usage: total }) {
    const ids = createIds(turn);
    const { assistant, user, messageCount } = createMessages(ids, total);
    let toolId = '';
    let lastText = '';
    const toolUse = (name: string, input: object) => {
      toolId = ids.id('toolu_fake');
      return lines(...assistant({ type: 'tool_use', id: toolId, name, input }));
    };
    const toolResult = (content: string, isFailure: boolean | null, result: unknown) => {
      const isError = isFailure === null ? {} : { is_error: isFailure };
      const block = { tool_use_id: toolId, type: 'tool_result', content, ...isError };
      return lines({ ...user(block), tool_use_result: result });
    };

    return {
      start: () => lines(init(cwd, ids.session, ids.uuid())),
      text(parts) {
        lastText = parts.at(-1) ?? '';
        return lines(...assistant(...parts.map((text) => ({ type: 'text', text }))));
      },
      thinking: (thinking) => lines(...assistant({ type: 'thinking', thinking, signature: 'ZmFrZQ==' })),
      toolStart: (call) => toolUse(...nameAndInput(call)),
      toolEnd: (call, end) => toolResult(...reply(call, end)),
      todo(items) {
        const todos = items.map(({ text, status }) => ({
          content: text,
          status: todoStatus(status),
          activeForm: text,
        }));
        const message = 'Todos have been modified successfully.';
        return toolUse('TodoWrite', { todos }) + toolResult(message, null, { oldTodos: [], newTodos: todos });
      },
      subagent(text) {
        const parent = { parent_tool_use_id: ids.id('toolu_fake') };
        return lines(...assistant({ type: 'text', text }).map((message) => ({ ...message, ...parent })));
      },
      echo: (text) => lines(user({ type: 'text', text })),
      error(error) {
        lastText = errorText(error);
        const limit = error.resetsAt === undefined ? [] : [rateLimit(error.resetsAt, ids.session)];
        return lines(...limit, errorMessage(error, ids));
      },
      result: (end) => lines({ ...resultEvent(end, ids), num_turns: messageCount(), result: lastText }),
    };
  },
};

/** Makes the messages of one turn. */
function createMessages(ids: Ids, total: Usage) {
  let count = 0;
  const envelope = () => ({
    parent_tool_use_id: null,
    session_id: ids.session,
    uuid: ids.uuid(),
    timestamp: new Date(ids.time()).toISOString(),
  });
  return {
    messageCount: () => count,
    /** Returns one event for each block of a message. */
    assistant(...blocks: readonly object[]) {
      count += 1;
      const message = {
        id: ids.id('msg_fake'),
        type: 'message',
        role: 'assistant',
        model,
        stop_reason: null,
        stop_sequence: null,
        // A snapshot from the start of the message; the true figures are in the result.
        usage: { ...usageFields(total), output_tokens: 1 },
        context_management: null,
      };
      return blocks.map((block) => ({
        type: 'assistant',
        message: { ...message, content: [block] },
        ...envelope(),
        request_id: ids.id('req_fake'),
      }));
    },
    user: (block: object) => ({
      type: 'user',
      message: { role: 'user', content: [block] },
      ...envelope(),
    }),
  };
}

function errorMessage(error: ApiError, ids: Ids): object {
  return {
    type: 'assistant',
    message: {
      id: ids.uuid(),
      model: '<synthetic>',
      role: 'assistant',
      stop_reason: 'stop_sequence',
      stop_sequence: '',
      type: 'message',
      usage: { input_tokens: 0, output_tokens: 0 },
      content: [{ type: 'text', text: errorText(error) }],
      context_management: null,
    },
    parent_tool_use_id: null,
    session_id: ids.session,
    uuid: ids.uuid(),
    timestamp: new Date(ids.time()).toISOString(),
    error: errorName(error),
    is_api_error_message: true,
    api_error_status: error.status,
    api_error_type: errorType(error.status),
    ...(error.resetsAt === undefined ? {} : { api_error: 'usage_limit_reached' }),
  };
}

function resultEvent({ ok, error, usage }: TurnResult, ids: Ids): object {
  return {
    duration_api_ms: 100,
    stop_reason: ok ? 'end_turn' : 'stop_sequence',
    session_id: ids.session,
    total_cost_usd: usage.costUsd ?? 0,
    usage: usageFields(usage),
    modelUsage: modelUsage(usage),
    permission_denials: [],
    terminal_reason: ok ? 'completed' : terminalReason(error),
    is_error: !ok,
    // "success" for failures too: only is_error tells.
    subtype: 'success',
    api_error_status: ok ? null : (error?.status ?? null),
    ...(ok || error === undefined ? {} : { api_error_type: errorType(error.status) }),
    ...(ok || error?.resetsAt === undefined ? {} : { api_error: 'usage_limit_reached' }),
    type: 'result',
    duration_ms: 200,
    uuid: ids.uuid(),
    queued_turn_count: 0,
    result_index: 0,
    model_usage_since_last_result: modelUsage(usage),
  };
}

function init(cwd: string, session: string, uuid: string): object {
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: session,
    tools: ['Task', 'Bash', 'Edit', 'Read', 'TodoWrite', 'Write'],
    mcp_servers: [],
    model,
    permissionMode: 'bypassPermissions',
    slash_commands: [],
    apiKeySource: 'none',
    claude_code_version: version,
    output_style: 'default',
    agents: ['general-purpose'],
    skills: [],
    plugins: [],
    uuid,
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['Bash', { command: call.command, description: 'Run a command' }];
  if (call.kind === 'write') return ['Write', { file_path: call.path, content: call.content }];
  return [call.name, call.input];
}

/** `tool_use_result` is an object after success and a string after failure; Write leaves `is_error` out. */
function reply(call: ToolCall, end: ToolEnd): [content: string, failed: boolean | null, result: unknown] {
  const output = end.output.trimEnd();
  if (!end.ok || (end.exitCode ?? 0) !== 0) {
    const content = end.exitCode === undefined ? output : `Exit code ${end.exitCode}\n${output}`;
    return [content, true, `Error: ${content}`];
  }
  if (call.kind === 'write') {
    const content = `File ${call.existed ? 'updated' : 'created'} successfully at: ${call.path}`;
    const type = call.existed ? 'update' : 'create';
    return [content, null, { type, filePath: call.path, content: call.content }];
  }
  return [output, false, { stdout: output, stderr: '', interrupted: false, isImage: false }];
}

function usageFields(usage: Usage): object {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

/** Counts subagents too, which `usage` does not; empty when no model answered. */
function modelUsage(usage: Usage): object {
  if (totalTokens(usage) === 0) return {};
  return {
    [model]: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      cacheReadInputTokens: usage.cacheReadTokens,
      cacheCreationInputTokens: usage.cacheWriteTokens,
      costUSD: usage.costUsd ?? 0,
    },
  };
}

function rateLimit(resetsAt: number, session: string): object {
  const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
  return { type: 'rate_limit_event', rate_limit_info: info, session_id: session };
}

function terminalReason(error: ApiError | undefined): string {
  return error !== undefined && isTooLong(error) ? 'prompt_too_long' : 'api_error';
}

function errorText({ status, message, resetsAt }: ApiError): string {
  if (resetsAt !== undefined || status === 401 || isTooLong({ status, message })) return message;
  return status === 429
    ? `API Error: Request rejected (429) · ${message}`
    : `API Error: ${status} ${message}`;
}

function errorName(error: ApiError): string {
  if (isTooLong(error)) return 'invalid_request';
  if (error.status === 402) return 'billing_error';
  if (error.status === 429) return 'rate_limit';
  if (error.status >= 500) return 'server_error';
  return error.status === 401 || error.status === 403 ? 'authentication_failed' : 'unknown';
}

import type { ApiError } from '../script.ts';
import { anthropicMessages, anthropicUsage } from './anthropic.ts';
import { errorType, isTooLong } from './api-error.ts';
import type { AgentFormat, ToolEnd } from './format.ts';

const version = '2.1.325';
const model = 'claude-opus-5-5';

/** `claude -p --output-format stream-json --verbose`, as 2.1.325 prints it. */
export const claude: AgentFormat = {
  version: `${version} (Claude Code)`,
  streamWords: ['stream-json'],
  tools: {
    shell: ['Bash', 'command'],
    write: ['Write', 'file_path', 'content'],
    todo: ['TodoWrite', 'content'],
  },
  exitCode: () => 1,
  open({ cwd, ids, usage: total }) {
    const session_id = ids.session;
    const messages = anthropicMessages({
      ids,
      session: session_id,
      // A snapshot from the start of the message; the true figures are in the result.
      messageFields: () => ({ model, usage: { ...anthropicUsage(total), output_tokens: 1 } }),
      reply,
    });
    return {
      ...messages,
      start: () => [
        { type: 'system', subtype: 'init', cwd, session_id, model, claude_code_version: version },
      ],
      error: (error) => [
        ...(error.resetsAt === undefined ? [] : [rateLimit(error.resetsAt, session_id)]),
        { ...errorFields(error), ...errorMessage(error), session_id },
      ],
      result: ({ ok, error, usage, text }) => [
        {
          session_id,
          total_cost_usd: usage.costUsd ?? 0,
          usage: anthropicUsage(usage),
          terminal_reason: ok ? 'completed' : terminalReason(error),
          is_error: !ok,
          // "success" for failures too: only is_error tells.
          subtype: 'success',
          ...(ok || error === undefined ? {} : errorFields(error)),
          // Not the first field, unlike in other events.
          type: 'result',
          result: error === undefined ? text : errorText(error),
        },
      ],
    };
  },
};

function reply({ output, ok, exitCode }: ToolEnd): [content: string, isError: boolean] {
  const content = output.trimEnd();
  if (ok && (exitCode ?? 0) === 0) return [content, false];
  return [exitCode === undefined ? content : `Exit code ${exitCode}\n${content}`, true];
}

/** Looks like an answer of the model, except for the name of the model. */
function errorMessage(error: ApiError): object {
  const content = [{ type: 'text', text: errorText(error) }];
  return {
    type: 'assistant',
    message: { type: 'message', role: 'assistant', model: '<synthetic>', content },
    parent_tool_use_id: null,
    is_api_error_message: true,
  };
}

function errorFields({ status, resetsAt }: ApiError): object {
  return {
    api_error_status: status,
    api_error_type: errorType(status),
    ...(resetsAt === undefined ? {} : { api_error: 'usage_limit_reached' }),
  };
}

function rateLimit(resetsAt: number, session: string): object {
  const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
  return { type: 'rate_limit_event', rate_limit_info: info, session_id: session };
}

function terminalReason(error: ApiError | undefined): string {
  return error !== undefined && isTooLong(error) ? 'prompt_too_long' : 'api_error';
}

function errorText(error: ApiError): string {
  const { status, message, resetsAt } = error;
  if (resetsAt !== undefined || status === 401 || isTooLong(error)) return message;
  return status === 429
    ? `API Error: Request rejected (429) · ${message}`
    : `API Error: ${status} ${message}`;
}

import type { ApiError } from '../script.ts';
import { errorType } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  todoStatus,
} from './format.ts';

const model = 'gemini-2.5-flash';

/** `gemini -o stream-json`, as 0.61.0 prints it: text only as deltas, and no exit codes of commands. */
export const gemini: AgentFormat = {
  version: '0.61.0',
  streamWords: ['stream-json'],
  // The HTTP status, cut to the eight bits that a process can exit with.
  exitCode: (status) => status % 256,
  open({ prompt, turn }) {
    const ids = createIds(turn);
    let toolId = '';
    let toolCalls = 0;

    const event = (type: string, fields: object) => ({
      type,
      timestamp: new Date(ids.time()).toISOString(),
      ...fields,
    });
    const toolUse = (name: string, parameters: object) => {
      toolCalls += 1;
      toolId = ids.id(`${name}__fake`);
      return lines(event('tool_use', { tool_name: name, tool_id: toolId, parameters }));
    };
    const toolResult = (fields: object) => lines(event('tool_result', { tool_id: toolId, ...fields }));
    const echo = (content: string) => event('message', { role: 'user', content });

    return {
      ...silent,
      start: () => lines(event('init', { session_id: ids.session, model }), echo(prompt)),
      text: (parts) =>
        lines(...parts.map((content) => event('message', { role: 'assistant', content, delta: true }))),
      toolStart: (call) => toolUse(...nameAndInput(call)),
      toolEnd: (call, end) => toolResult(reply(call, end)),
      todo(items) {
        const todos = items.map(({ text, status }) => ({ description: text, status: todoStatus(status) }));
        return toolUse('write_todos', { todos }) + toolResult({ status: 'success' });
      },
      echo: (text) => lines(echo(text)),
      result({ ok, error, usage }) {
        const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
        const tokens = {
          total_tokens: input + usage.outputTokens,
          input_tokens: input,
          output_tokens: usage.outputTokens,
          cached: usage.cacheReadTokens,
          input: input - usage.cacheReadTokens,
        };
        const message = error === undefined ? 'failed' : errorText(error);
        return lines(
          event('result', {
            status: ok ? 'success' : 'error',
            ...(ok ? {} : { error: { type: 'unknown', message } }),
            stats: { ...tokens, duration_ms: 200, tool_calls: toolCalls, models: { [model]: tokens } },
          }),
        );
      },
    };
  },
};

function nameAndInput(call: ToolCall): [name: string, parameters: object] {
  if (call.kind === 'shell')
    return ['run_shell_command', { command: call.command, description: 'Run a command' }];
  if (call.kind === 'write') return ['write_file', { file_path: call.path, content: call.content }];
  return [call.name, call.input];
}

function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) return { status: 'success', output: output.trimEnd() };
  if (!ok) return { status: 'error', output, error: { type: 'execution_failed', message: output } };
  return call.kind === 'write' ? { status: 'success' } : { status: 'success', output };
}

function errorText({ status, message, resetsAt }: ApiError): string {
  if (resetsAt !== undefined) {
    return '[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.';
  }
  const error = { code: status, message, status: errorType(status) };
  return `[API Error: ${JSON.stringify({ error })}]`;
}

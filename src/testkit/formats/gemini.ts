import type { ApiError } from '../script.ts';
import { errorType } from './api-error.ts';
import { type AgentFormat, allInput, type ToolEnd } from './format.ts';

/** `gemini -o stream-json`, as 0.61.0 prints it: text only as deltas, and no exit codes of commands. */
export const gemini: AgentFormat = {
  version: '0.61.0',
  streamWords: ['stream-json'],
  tools: {
    shell: ['run_shell_command', 'command'],
    write: ['write_file', 'file_path', 'content'],
    todo: ['write_todos', 'description'],
  },
  // The HTTP status, cut to the eight bits that a process can exit with.
  exitCode: (status) => status % 256,
  open({ prompt, ids }) {
    const event = (type: string, fields: object) => ({ type, timestamp: ids.timestamp(), ...fields });
    const echo = (content: string) => [event('message', { role: 'user', content })];

    return {
      start: () => [event('init', { session_id: ids.session, model: 'gemini-2.5-flash' }), ...echo(prompt)],
      text: (parts) => parts.map((content) => event('message', { role: 'assistant', content, delta: true })),
      toolStart: ({ id, name, input }) => [
        event('tool_use', { tool_name: name, tool_id: id, parameters: input }),
      ],
      toolEnd: ({ id }, end) => [event('tool_result', { tool_id: id, ...reply(end) })],
      echo,
      result({ ok, error, usage }) {
        const stats = {
          total_tokens: allInput(usage) + usage.outputTokens,
          input_tokens: allInput(usage),
          output_tokens: usage.outputTokens,
          cached: usage.cacheReadTokens,
          input: allInput(usage) - usage.cacheReadTokens,
        };
        if (ok) return [event('result', { status: 'success', stats })];
        const message = error === undefined ? 'failed' : errorText(error);
        return [event('result', { status: 'error', error: { type: 'unknown', message }, stats })];
      },
    };
  },
};

function reply({ output, ok, exitCode }: ToolEnd): object {
  if (ok || exitCode !== undefined) return { status: 'success', output: output.trimEnd() };
  return { status: 'error', output, error: { type: 'execution_failed', message: output } };
}

function errorText({ status, message, resetsAt }: ApiError): string {
  if (resetsAt !== undefined) {
    return '[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.';
  }
  const error = { code: status, message, status: errorType(status) };
  return `[API Error: ${JSON.stringify({ error })}]`;
}

import type { ApiError } from '../script.ts';
import { anthropicText, isTooLong } from './api-error.ts';
import { type AgentFormat, createIds, lines, type ToolCall, type ToolEnd, usageOnce } from './format.ts';

/** `amp --stream-json -x`, as 0.0.1769314944 prints it: the prompt comes back first, and no result has a usage. */
export const amp: AgentFormat = {
  version: '0.0.1769314944-g5070a1 (released 2026-01-25T04:27:11.084Z, 9mo ago)',
  streamWords: ['--stream-json'],
  // Errors end with 0 as well.
  exitCode: () => 0,
  open({ cwd, prompt, turn, usage: total }) {
    const ids = createIds(turn);
    const session = `T-${ids.session}`;
    const usage = usageOnce(total);
    let toolId = '';
    let lastText = '';
    let messages = 0;

    const assistant = (content: object, parent: string | null = null) => {
      messages += 1;
      const told = usage();
      return {
        type: 'assistant',
        message: {
          type: 'message',
          role: 'assistant',
          content: [content],
          stop_reason: 'type' in content && content.type === 'tool_use' ? 'tool_use' : 'end_turn',
          usage: {
            input_tokens: told.inputTokens,
            cache_creation_input_tokens: told.cacheWriteTokens,
            cache_read_input_tokens: told.cacheReadTokens,
            output_tokens: told.outputTokens,
            max_tokens: 168_000,
            service_tier: 'standard',
          },
        },
        parent_tool_use_id: parent,
        session_id: session,
      };
    };
    const user = (content: object) => ({
      type: 'user',
      message: { role: 'user', content: [content] },
      parent_tool_use_id: null,
      session_id: session,
    });
    const echo = (text: string) => user({ type: 'text', text });

    return {
      start: () =>
        lines(
          {
            type: 'system',
            subtype: 'init',
            cwd,
            session_id: session,
            tools: ['Bash', 'create_file', 'edit_file', 'Read', 'Task', 'task_list'],
            mcp_servers: [],
          },
          echo(prompt),
        ),
      text(parts) {
        lastText = parts.join('');
        return lines(...parts.map((text) => assistant({ type: 'text', text })));
      },
      thinking: () => '',
      toolStart(call) {
        toolId = ids.id('toolu_fake');
        const [name, input] = nameAndInput(call);
        return lines(assistant({ type: 'tool_use', id: toolId, name, input }));
      },
      toolEnd: (call, end) => lines(user({ type: 'tool_result', tool_use_id: toolId, ...reply(call, end) })),
      todo: () => '',
      subagent: (text) => lines(assistant({ type: 'text', text }, ids.id('toolu_fake'))),
      echo: (text) => lines(echo(text)),
      error: () => '',
      result: ({ ok, error }) =>
        lines({
          type: 'result',
          subtype: ok ? 'success' : 'error_during_execution',
          duration_ms: 200,
          is_error: !ok,
          num_turns: messages,
          ...(ok ? { result: lastText } : { error: error === undefined ? 'failed' : errorText(error) }),
          session_id: session,
        }),
    };
  },
};

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['Bash', { cmd: call.command }];
  if (call.kind === 'write') return ['create_file', { path: call.path, content: call.content }];
  return [call.name, call.input];
}

/** A command's end is JSON in a string, and `is_error` stays false whatever its exit code. */
function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) return { content: JSON.stringify({ output, exitCode }), is_error: false };
  if (ok && call.kind === 'write')
    return { content: `Successfully created file ${call.path}`, is_error: false };
  return { content: output, is_error: !ok };
}

function errorText(error: ApiError): string {
  if (error.status === 401) return 'Unauthorized Check your access token.';
  if (isTooLong(error))
    return 'Context Limit Reached This conversation has reached the context window limit.';
  return anthropicText(error);
}

import type { Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';
import { anthropicText, isTooLong } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  usageOnce,
} from './format.ts';

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

    const event = (message: Message, parent: string | null = null) => ({
      type: message.role,
      message,
      parent_tool_use_id: parent,
      session_id: session,
    });
    const assistant = (block: Block, parent: string | null = null) => {
      messages += 1;
      return event(assistantMessage(block, usage()), parent);
    };
    const user = (block: object) => event({ role: 'user', content: [block] });
    const echo = (text: string) => user({ type: 'text', text });

    return {
      ...silent,
      start: () => lines(init(cwd, session), echo(prompt)),
      text(parts) {
        lastText = parts.join('');
        return lines(...parts.map((text) => assistant({ type: 'text', text })));
      },
      toolStart(call) {
        toolId = ids.id('toolu_fake');
        const [name, input] = nameAndInput(call);
        return lines(assistant({ type: 'tool_use', id: toolId, name, input }));
      },
      toolEnd: (call, end) => lines(user({ type: 'tool_result', tool_use_id: toolId, ...reply(call, end) })),
      subagent: (text) => lines(assistant({ type: 'text', text }, ids.id('toolu_fake'))),
      echo: (text) => lines(echo(text)),
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

type Message = { readonly role: string; readonly content: readonly object[] };
type Block = { readonly type: string; readonly [field: string]: unknown };

function init(cwd: string, session: string): object {
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: session,
    tools: ['Bash', 'create_file', 'edit_file', 'Read', 'Task', 'task_list'],
    mcp_servers: [],
  };
}

function assistantMessage(block: Block, usage: Usage) {
  return {
    type: 'message',
    role: 'assistant',
    content: [block],
    stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn',
    usage: {
      input_tokens: usage.inputTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      output_tokens: usage.outputTokens,
      max_tokens: 168_000,
      service_tier: 'standard',
    },
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['Bash', { cmd: call.command }];
  if (call.kind === 'write') return ['create_file', { path: call.path, content: call.content }];
  return [call.name, call.input];
}

/** The end of a command is JSON in a string, with `is_error` false for any exit code. */
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

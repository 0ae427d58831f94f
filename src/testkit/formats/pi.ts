import { totalTokens, type Usage } from '../../core/turn.ts';
import { anthropicText } from './api-error.ts';
import type { AgentFormat, ToolEnd } from './format.ts';

/** `pi -p --mode json`, as 0.73.1 prints it: exit code 0 always, the end in the stop reason of the last message. */
export const pi: AgentFormat = {
  version: '0.73.1',
  streamWords: ['json'],
  tools: { shell: ['bash', 'command'], write: ['write', 'path', 'content'] },
  exitCode: () => 0,
  open({ cwd, prompt, ids, usageOnce }) {
    const messageEnd = (role: string, content: readonly object[], fields: object = {}) => ({
      type: 'message_end',
      message: { role, content, timestamp: ids.time(), ...fields },
    });
    const assistant = (content: readonly object[], stopReason: string, fields: object = {}) =>
      messageEnd('assistant', content, { usage: usageFields(usageOnce()), stopReason, ...fields });
    const echo = (text: string) => [messageEnd('user', [{ type: 'text', text }])];
    const end = { type: 'agent_end', messages: [] };

    return {
      start: () => [
        { type: 'session', version: 3, id: ids.session, cwd },
        { type: 'agent_start' },
        ...echo(prompt),
      ],
      text: (parts) => [assistant([{ type: 'text', text: parts.join('') }], 'stop')],
      thinking: (thinking) => [assistant([{ type: 'thinking', thinking }], 'stop')],
      toolStart: ({ id, name, input }) => [
        assistant([{ type: 'toolCall', id, name, arguments: input }], 'toolUse'),
        { type: 'tool_execution_start', toolCallId: id, toolName: name, args: input },
      ],
      toolEnd({ id, name }, result) {
        const [text, isError] = reply(result);
        const content = [{ type: 'text', text }];
        return [{ type: 'tool_execution_end', toolCallId: id, toolName: name, result: { content }, isError }];
      },
      echo,
      error: (error) => [assistant([], 'error', { errorMessage: anthropicText(error) })],
      result({ ok, error }) {
        if (ok) return [assistant([], 'stop'), end];
        return error === undefined ? [assistant([], 'error', { errorMessage: 'failed' }), end] : [end];
      },
    };
  },
};

function usageFields(usage: Usage): object {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    totalTokens: totalTokens(usage),
    cost: { total: usage.costUsd ?? 0 },
  };
}

function reply({ output, ok, exitCode = 0 }: ToolEnd): [text: string, isError: boolean] {
  return exitCode === 0 ? [output, !ok] : [`${output}\n\nCommand exited with code ${exitCode}`, true];
}

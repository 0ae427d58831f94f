import type { Usage } from '../../core/turn.ts';
import { anthropicMessages } from './anthropic.ts';
import { type AgentFormat, allInput, type ToolEnd } from './format.ts';

const version = '0.15.10';
const model = 'fake-model';

/** `qwen -o stream-json`, as 0.15.10 prints it. An API error looks like an answer, except for its text. */
export const qwen: AgentFormat = {
  version,
  streamWords: ['stream-json'],
  tools: {
    shell: ['run_shell_command', 'command'],
    write: ['write_file', 'file_path', 'content'],
    todo: ['todo_write', 'content'],
  },
  exitCode: () => 0,
  open({ cwd, ids, usageOnce }) {
    const session_id = ids.session;
    const { echo: _noTrace, ...messages } = anthropicMessages({
      ids,
      session: session_id,
      messageFields: () => ({ model, usage: usageFields(usageOnce()) }),
      reply,
    });
    return {
      ...messages,
      start: () => [{ type: 'system', subtype: 'init', session_id, cwd, model, qwen_code_version: version }],
      error: ({ status, message }) => messages.text([`[API Error: ${status} ${message}]`]),
      result: ({ ok, error, usage, text }) => [
        {
          type: 'result',
          subtype: 'success',
          session_id,
          is_error: !ok && error === undefined,
          result: error === undefined ? text : `[API Error: ${error.status} ${error.message}]`,
          usage: usageFields(usage),
        },
      ],
    };
  },
};

/** A command that fails is no error here, and has no exit code. */
function reply({ output, ok, exitCode }: ToolEnd): [content: string, isError: boolean] {
  return exitCode === undefined ? [output, !ok] : [output.trimEnd(), false];
}

function usageFields(usage: Usage): object {
  return {
    input_tokens: allInput(usage),
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    total_tokens: allInput(usage) + usage.outputTokens,
  };
}

import type { ApiError } from '../script.ts';
import { anthropicMessages, anthropicUsage } from './anthropic.ts';
import { anthropicText, isTooLong } from './api-error.ts';
import type { AgentFormat, ToolEnd } from './format.ts';

/** `amp --stream-json -x`, as 0.0.1769314944 prints it: the prompt comes back first, and no result has a usage. */
export const amp: AgentFormat = {
  version: '0.0.1769314944-g5070a1 (released 2026-01-25T04:27:11.084Z, 9mo ago)',
  streamWords: ['--stream-json'],
  tools: { shell: ['Bash', 'cmd'], write: ['create_file', 'path', 'content'] },
  // Errors end with 0 as well.
  exitCode: () => 0,
  open({ cwd, prompt, ids, usageOnce }) {
    const session_id = `T-${ids.session}`;
    const { thinking: _noTrace, ...messages } = anthropicMessages({
      ids,
      session: session_id,
      messageFields: () => ({ usage: anthropicUsage(usageOnce()) }),
      reply,
    });
    return {
      ...messages,
      start: () => [{ type: 'system', subtype: 'init', cwd, session_id }, ...messages.echo(prompt)],
      result: ({ ok, error, text }) => [
        {
          type: 'result',
          subtype: ok ? 'success' : 'error_during_execution',
          is_error: !ok,
          ...(ok ? { result: text } : { error: error === undefined ? 'failed' : errorText(error) }),
          session_id,
        },
      ],
    };
  },
};

/** The end of a command is JSON in a string, with `is_error` false for any exit code. */
function reply({ output, ok, exitCode }: ToolEnd): [content: string, isError: boolean] {
  return exitCode === undefined ? [output, !ok] : [JSON.stringify({ output, exitCode }), false];
}

function errorText(error: ApiError): string {
  if (error.status === 401) return 'Unauthorized Check your access token.';
  if (isTooLong(error))
    return 'Context Limit Reached This conversation has reached the context window limit.';
  return anthropicText(error);
}

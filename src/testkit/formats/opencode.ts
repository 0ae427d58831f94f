import { totalTokens, type Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';
import { openAiError } from './api-error.ts';
import type { AgentFormat, ToolEnd } from './format.ts';

/** `opencode run --format json`, as 1.18.33 prints it: a tool call only when it is over, the end as a step's reason. */
export const opencode: AgentFormat = {
  version: '1.18.33',
  streamWords: ['json'],
  tools: {
    shell: ['bash', 'command'],
    write: ['write', 'filePath', 'content'],
    todo: ['todowrite', 'content'],
  },
  exitCode: () => 1,
  open({ ids, usageOnce }) {
    const sessionID = ids.id('ses_fake');
    const event = (type: string, fields: object) => ({ type, timestamp: ids.time(), sessionID, ...fields });
    const part = (type: string, name: string, fields: object) =>
      event(type, { part: { type: name, sessionID, ...fields } });
    const finish = (reason: 'stop' | 'tool-calls') =>
      part('step_finish', 'step-finish', { reason, ...usageFields(usageOnce()) });
    let isOpen = false;
    /** Returns the start of a step, unless one is open. */
    const open = () => {
      const start = isOpen ? [] : [part('step_start', 'step-start', {})];
      isOpen = true;
      return start;
    };

    return {
      text: (parts) => [...open(), ...parts.map((text) => part('text', 'text', { text }))],
      toolStart: open,
      toolEnd({ id, name, input }, end) {
        isOpen = false;
        const state = { input, ...reply(end) };
        return [part('tool_use', 'tool', { tool: name, callID: id, state }), finish('tool-calls')];
      },
      error: (error) => [event('error', { error: errorFields(error) })],
      result: ({ ok }) => (ok ? [...open(), finish('stop')] : []),
    };
  },
};

/** A command that exits with 3 is "completed" too; its exit code is in the metadata. */
function reply({ output, ok, exitCode }: ToolEnd): object {
  if (!ok && exitCode === undefined) return { status: 'error', error: output };
  return {
    status: 'completed',
    output,
    ...(exitCode === undefined ? {} : { metadata: { exit: exitCode } }),
  };
}

function usageFields(usage: Usage): object {
  const tokens = {
    total: totalTokens(usage),
    input: usage.inputTokens,
    output: usage.outputTokens,
    reasoning: 0,
    cache: { write: usage.cacheWriteTokens, read: usage.cacheReadTokens },
  };
  return { tokens, cost: usage.costUsd ?? 0 };
}

function errorFields(error: ApiError): object {
  const responseBody = JSON.stringify({ error: openAiError(error) });
  return {
    name: 'APIError',
    data: { message: error.message, statusCode: error.status, responseBody },
  };
}

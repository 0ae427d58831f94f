import { openAiError } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  lines,
  type ToolCall,
  type ToolEnd,
  todoStatus,
  usageOnce,
} from './format.ts';

/** `opencode run --format json`, as 1.18.33 prints it: a tool call only when it is over, the end as a step's reason. */
export const opencode: AgentFormat = {
  version: '1.18.33',
  streamWords: ['json'],
  exitCode: () => 1,
  open({ turn, usage: total }) {
    const ids = createIds(turn);
    const sessionID = ids.id('ses_fake');
    const usage = usageOnce(total);
    let messageID: string | null = null;

    const part = (type: string, name: string, fields: object) => ({
      type,
      timestamp: ids.time(),
      sessionID,
      part: { id: ids.id('prt_fake'), messageID, sessionID, type: name, ...fields },
    });
    /** The start of a step, unless one is open. */
    const open = () => {
      if (messageID !== null) return [];
      messageID = ids.id('msg_fake');
      return [part('step_start', 'step-start', {})];
    };
    const close = (reason: 'stop' | 'tool-calls') => {
      const told = usage();
      const tokens = {
        total: told.inputTokens + told.outputTokens + told.cacheReadTokens + told.cacheWriteTokens,
        input: told.inputTokens,
        output: told.outputTokens,
        reasoning: 0,
        cache: { write: told.cacheWriteTokens, read: told.cacheReadTokens },
      };
      const event = part('step_finish', 'step-finish', { reason, tokens, cost: told.costUsd ?? 0 });
      messageID = null;
      return event;
    };
    const toolUse = (tool: string, state: object) =>
      lines(
        ...open(),
        part('tool_use', 'tool', {
          tool,
          callID: ids.id('call_fake'),
          state: { ...state, time: { start: ids.time(), end: ids.time() } },
        }),
        close('tool-calls'),
      );

    return {
      start: () => '',
      text: (parts) =>
        lines(
          ...open(),
          ...parts.map((text) =>
            part('text', 'text', { text, time: { start: ids.time(), end: ids.time() } }),
          ),
        ),
      thinking: () => '',
      toolStart: () => lines(...open()),
      toolEnd: (call, end) => toolUse(nameOf(call), { input: inputOf(call), ...reply(call, end) }),
      todo(items) {
        const todos = items.map(({ text, status }) => ({
          content: text,
          status: todoStatus(status),
          priority: 'medium',
        }));
        return toolUse('todowrite', {
          status: 'completed',
          input: { todos },
          output: JSON.stringify(todos, null, 2),
          metadata: { todos, truncated: false },
          title: `${todos.length} todos`,
        });
      },
      subagent: () => '',
      echo: () => '',
      error: (error) =>
        lines({
          type: 'error',
          timestamp: ids.time(),
          sessionID,
          error: {
            name: 'APIError',
            data: {
              message: error.message,
              statusCode: error.status,
              isRetryable: error.status === 429 || error.status >= 500,
              responseHeaders: { 'content-type': 'application/json' },
              responseBody: JSON.stringify({ error: openAiError(error) }),
            },
          },
        }),
      result: ({ ok }) => (ok ? lines(...open(), close('stop')) : ''),
    };
  },
};

function nameOf(call: ToolCall): string {
  if (call.kind === 'other') return call.name;
  return call.kind === 'shell' ? 'bash' : 'write';
}

function inputOf(call: ToolCall): object {
  if (call.kind === 'shell') return { command: call.command };
  return call.kind === 'write' ? { filePath: call.path, content: call.content } : call.input;
}

/** A command that exits with 3 is "completed" too; its exit code is in the metadata. */
function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) {
    const title = call.kind === 'shell' ? call.command : nameOf(call);
    return { status: 'completed', output, metadata: { output, exit: exitCode, truncated: false }, title };
  }
  if (!ok) return { status: 'error', error: output };
  if (call.kind !== 'write')
    return { status: 'completed', output, metadata: { truncated: false }, title: nameOf(call) };
  const metadata = { diagnostics: {}, filepath: call.path, exists: call.existed, truncated: false };
  return { status: 'completed', output: 'Wrote file successfully.', metadata, title: call.path };
}

import type { TodoItem } from '../../agents/adapter.ts';
import type { ApiError } from '../script.ts';
import { errorType } from './api-error.ts';
import { type AgentFormat, allInput, type ToolCall, type ToolEnd } from './format.ts';

/** The session and the request of a turn, by which its lines are addressed. */
export type AcpAddress = { readonly session: string; readonly prompt: unknown };

const kinds = { shell: 'execute', write: 'edit', other: 'other' } as const;
const statuses = { pending: 'pending', active: 'in_progress', done: 'completed' } as const;

/** Any agent that speaks the Agent Client Protocol, as OpenCode 1.18.33 does. */
export function acpFormat(base: AgentFormat, address: AcpAddress): AgentFormat {
  return {
    ...base,
    tools: { shell: base.tools.shell, write: base.tools.write },
    streamWords: [],
    // An API error ends the turn, not the process.
    exitCode: () => 0,
    open({ ids }) {
      const update = (sessionUpdate: string, fields: object) => ({
        jsonrpc: '2.0',
        method: 'session/update',
        params: { sessionId: address.session, update: { sessionUpdate, ...fields } },
      });
      const chunk = (type: string, text: string, messageId = ids.id('msg_fake')) =>
        update(type, { messageId, content: { type: 'text', text } });
      const response = (fields: object) => ({ jsonrpc: '2.0', id: address.prompt, ...fields });
      return {
        text(parts) {
          const message = ids.id('msg_fake');
          return parts.map((part) => chunk('agent_message_chunk', part, message));
        },
        thinking: (text) => [chunk('agent_thought_chunk', text)],
        toolStart: (call) => [
          update('tool_call', { ...toolCall(call), status: 'pending' }),
          update('tool_call_update', { toolCallId: call.id, status: 'in_progress' }),
        ],
        toolEnd: (call, end) => [update('tool_call_update', toolResult(call, end))],
        todo: (items) => [update('plan', { entries: items.map(planEntry) })],
        echo: (prompt) => [chunk('user_message_chunk', prompt)],
        result({ ok, error, usage }) {
          if (!ok) return [response({ error: failureOf(error) })];
          const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = usage;
          const used = { used: allInput(usage), size: 200_000 };
          const cost = costUsd === undefined ? {} : { cost: { amount: costUsd, currency: 'USD' } };
          const tokens = { cachedReadTokens: cacheReadTokens, cachedWriteTokens: cacheWriteTokens };
          return [
            update('usage_update', { ...used, ...cost }),
            response({
              result: { stopReason: 'end_turn', usage: { inputTokens, outputTokens, ...tokens } },
            }),
          ];
        },
      };
    },
  };
}

/** A call as it is shown, and as permission for it is asked. */
export function toolCall({ id, kind, name, input, subject }: ToolCall) {
  return {
    toolCallId: id,
    title: subject || name,
    kind: kinds[kind],
    rawInput: input,
    ...(kind === 'write' ? { locations: [{ path: subject }] } : {}),
  };
}

function toolResult({ id }: ToolCall, { ok, output, exitCode }: ToolEnd): object {
  const content = [{ type: 'content', content: { type: 'text', text: output } }];
  const rawOutput = exitCode === undefined ? { output } : { output, metadata: { exit: exitCode } };
  const status = ok || exitCode !== undefined ? 'completed' : 'failed';
  return { toolCallId: id, status, content, rawOutput };
}

function planEntry({ text, status }: TodoItem): object {
  return { content: text, priority: 'medium', status: statuses[status] };
}

function failureOf(error: ApiError | undefined): object {
  if (error === undefined) return { code: -32_603, message: 'Internal error', data: { details: 'failed' } };
  const { status, message, resetsAt } = error;
  const details = {
    type: errorType(status),
    message,
    ...(resetsAt === undefined ? {} : { resets_at: resetsAt }),
  };
  return { code: status, message: JSON.stringify({ error: details }) };
}

import type { TodoItem } from '../../agents/adapter.ts';
import type { ApiError } from '../script.ts';
import { isTooLong, openAiError } from './api-error.ts';
import { type AgentFormat, createIds, lines, silent, type ToolCall } from './format.ts';

type Write = Extract<ToolCall, { kind: 'write' }>;

/** `codex exec --json`, as 0.166.0 prints it; the todo list is from 0.80.0. */
export const codex: AgentFormat = {
  version: 'codex-cli 0.166.0',
  streamWords: ['--json'],
  exitCode: () => 1,
  open({ turn }) {
    const ids = createIds(turn);
    let items = 0;
    let toolId = '';
    let plan: { id: string; items: object[] } | null = null;

    const newItem = () => {
      items += 1;
      return `item_${items - 1}`;
    };
    const completed = (item: object) => ({ type: 'item.completed', item });

    return {
      ...silent,
      start: () => lines({ type: 'thread.started', thread_id: ids.session }, { type: 'turn.started' }),
      text: (parts) =>
        lines(...parts.map((text) => completed({ id: newItem(), type: 'agent_message', text }))),
      thinking: (text) => lines(completed({ id: newItem(), type: 'reasoning', text })),
      toolStart(call) {
        toolId = newItem();
        const item =
          call.kind === 'write'
            ? { ...fileChange(toolId, call), status: 'in_progress' }
            : { ...command(toolId, call), aggregated_output: '', exit_code: null, status: 'in_progress' };
        return lines({ type: 'item.started', item });
      },
      toolEnd(call, { output, ok, exitCode = ok ? 0 : 1 }) {
        const status = ok && exitCode === 0 ? 'completed' : 'failed';
        if (call.kind === 'write') return lines(completed({ ...fileChange(toolId, call), status }));
        return lines(
          completed({ ...command(toolId, call), aggregated_output: output, exit_code: exitCode, status }),
        );
      },
      todo(list) {
        const type = plan === null ? 'item.started' : 'item.updated';
        plan = { id: plan?.id ?? newItem(), items: list.map(planItem) };
        return lines({ type, item: { ...plan, type: 'todo_list' } });
      },
      error: (error) => lines({ type: 'error', message: errorText(error) }),
      result({ ok, error, usage }) {
        const planEvents = plan === null ? [] : [completed({ ...plan, type: 'todo_list' })];
        if (!ok) {
          const message = error === undefined ? 'the turn failed' : errorText(error);
          return lines(...planEvents, { type: 'turn.failed', error: { message } });
        }
        return lines(...planEvents, {
          type: 'turn.completed',
          usage: {
            // Codex counts cached input as input.
            input_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
            cached_input_tokens: usage.cacheReadTokens,
            cache_write_input_tokens: usage.cacheWriteTokens,
            output_tokens: usage.outputTokens,
            reasoning_output_tokens: 0,
          },
        });
      },
    };
  },
};

/** Every scripted tool is a command here: codex has no other tool that all versions report. */
function command(id: string, call: Exclude<ToolCall, Write>): object {
  return { id, type: 'command_execution', command: `/bin/bash -lc '${commandOf(call)}'` };
}

function commandOf(call: Exclude<ToolCall, Write>): string {
  if (call.kind === 'shell') return call.command;
  return typeof call.input.command === 'string' ? call.input.command : call.name;
}

function fileChange(id: string, { path, existed }: Write): object {
  return { id, type: 'file_change', changes: [{ path, kind: existed ? 'update' : 'add' }] };
}

function planItem({ text, status }: TodoItem): object {
  return { text, completed: status === 'done' };
}

/** Codex has words of its own for most errors; only a bad request shows what the API said. */
function errorText(error: ApiError): string {
  const { status, message, resetsAt } = error;
  if (resetsAt !== undefined) {
    return `You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at ${localTime(resetsAt)}.`;
  }
  if (status === 401) return `unexpected status 401 Unauthorized: ${message}`;
  if (status === 402) return 'Quota exceeded. Check your plan and billing details.';
  if (status === 429) return 'exceeded retry limit, last status: 429 Too Many Requests';
  if (status >= 500) return 'We’re currently experiencing high demand, which may cause temporary errors.';
  if (isTooLong(error) || status === 400) return JSON.stringify({ error: openAiError(error) });
  return `unexpected status ${status}: ${message}`;
}

/** `7:53 PM` today, `Nov 20th, 2026 7:53 PM` on another day. */
function localTime(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  const time = date.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' }).replace(/\s/, ' ');
  if (date.toDateString() === new Date().toDateString()) return time;
  const month = date.toLocaleDateString('en-US', { month: 'short' });
  return `${month} ${date.getDate()}${ordinal(date.getDate())}, ${date.getFullYear()} ${time}`;
}

function ordinal(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}

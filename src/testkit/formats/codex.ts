import type { ApiError } from '../script.ts';
import { isTooLong, openAiError } from './api-error.ts';
import { type AgentFormat, allInput, type ToolCall } from './format.ts';

/** `codex exec --json`, as 0.166.0 prints it; the todo list is from 0.80.0. */
export const codex: AgentFormat = {
  version: 'codex-cli 0.166.0',
  streamWords: ['--json'],
  tools: { shell: ['shell', 'command'], write: ['apply_patch', 'path', 'content'] },
  exitCode: () => 1,
  open({ ids }) {
    const event = (type: string, item: object) => ({ type: `item.${type}`, item });
    const completed = (type: string, fields: object) =>
      event('completed', { id: ids.id('item_'), type, ...fields });
    let plan = '';

    return {
      start: () => [{ type: 'thread.started', thread_id: ids.session }, { type: 'turn.started' }],
      text: (parts) => parts.map((text) => completed('agent_message', { text })),
      thinking: (text) => [completed('reasoning', { text })],
      toolStart: (call) => [event('started', { ...itemOf(call), status: 'in_progress' })],
      toolEnd(call, { output, ok, exitCode = ok ? 0 : 1 }) {
        const status = ok && exitCode === 0 ? 'completed' : 'failed';
        const end = call.kind === 'write' ? {} : { aggregated_output: output, exit_code: exitCode };
        return [event('completed', { ...itemOf(call), ...end, status })];
      },
      todo(list) {
        const type = plan === '' ? 'started' : 'updated';
        plan ||= ids.id('item_');
        const items = list.map(({ text, status }) => ({ text, completed: status === 'done' }));
        return [event(type, { id: plan, type: 'todo_list', items })];
      },
      error: (error) => [{ type: 'error', message: errorText(error) }],
      result({ ok, error, usage }) {
        const message = error === undefined ? 'the turn failed' : errorText(error);
        if (!ok) return [{ type: 'turn.failed', error: { message } }];
        const tokens = {
          input_tokens: allInput(usage),
          cached_input_tokens: usage.cacheReadTokens,
          cache_write_input_tokens: usage.cacheWriteTokens,
          output_tokens: usage.outputTokens,
        };
        return [{ type: 'turn.completed', usage: tokens }];
      },
    };
  },
};

/** Every scripted tool is a command here, but for a write: codex has no other tool that all versions report. */
function itemOf({ id, kind, name, input, subject }: ToolCall): object {
  if (kind === 'write') return { id, type: 'file_change', changes: [{ path: subject, kind: 'add' }] };
  const command = typeof input.command === 'string' ? input.command : name;
  return { id, type: 'command_execution', command: `/bin/bash -lc '${command}'` };
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

/** `Nov 20th, 2026 7:53 PM`; the real one leaves out the date of today. */
function localTime(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  const time = date.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' }).replace(/\s/, ' ');
  const month = date.toLocaleDateString('en-US', { month: 'short' });
  return `${month} ${date.getDate()}th, ${date.getFullYear()} ${time}`;
}

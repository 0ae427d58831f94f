import { oneLine } from '../../core/text.ts';
import type { Limit } from '../../core/turn.ts';
import type { AgentEvent } from '../adapter.ts';
import { asSubagent, contextOf, exitCodeIn, sessionEvent, textOf, toolEnd } from '../events.ts';
import { asRecord, type JsonRecord, list, num, secondsToMs, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type ErrorFacts, failureOf, limitOf } from '../limit.ts';
import { answerIn, readAssistant, readToolResults, readUsage, type SpeakerState } from '../messages.ts';
import { resetTimeIn } from '../reset-time.ts';
import { createTaskList, type TaskList } from './task-list.ts';
import { readResultUsage } from './usage.ts';

export type ClaudeState = SpeakerState & {
  readonly tasks: TaskList;
  /** Ids of commands and subagents that still run: their end wakes the agent for another turn. */
  readonly running: Set<string>;
  /** Last API error, until a good message follows. */
  apiError: ErrorFacts | undefined;
  /** The model of the agent's own messages. */
  model: string | undefined;
  /** Reset time of the usage limit that rejected a request. */
  resetsAt: number | undefined;
};

export function newState(): ClaudeState {
  return {
    tasks: createTaskList(),
    running: new Set(),
    apiError: undefined,
    model: undefined,
    resetsAt: undefined,
    spoke: false,
  };
}

const silentTypes = new Set([
  'command_lifecycle',
  'control_request',
  'control_response',
  'keep_alive',
  'prompt_suggestion',
  'stream_event',
  'tool_progress',
  'tool_use_summary',
]);

export const parse = jsonLines((event, type, state: ClaudeState) => {
  if (type === 'system') return onSystem(event, state);
  if (type === 'assistant') return onAssistant(event, state);
  if (type === 'user') return onUser(event, state);
  if (type === 'result') return onResult(event, state);
  if (type === 'rate_limit_event') return onRateLimit(asRecord(event.rate_limit_info), state);
  return silentTypes.has(type) ? [] : [{ type: 'unknown', name: type }];
});

function onAssistant(event: JsonRecord, state: ClaudeState): AgentEvent[] {
  const message = asRecord(event.message);
  const events = readAssistant(message);
  if (typeof event.parent_tool_use_id === 'string') return asSubagent(events);
  state.spoke ||= events.some(({ type }) => type === 'text');
  // Messages of the CLI itself, such as API errors, name this model.
  if (message.model === '<synthetic>' || event.is_api_error_message === true) {
    return onApiError(event, textOf(message.content), state);
  }
  state.apiError = undefined;
  state.resetsAt = undefined;
  state.model = str(message.model);
  for (const item of list(message.content)) state.tasks.called(asRecord(item));
  return [...contextOf(readUsage(asRecord(message.usage))), ...events];
}

function onApiError(event: JsonRecord, message: string, state: ClaudeState): AgentEvent[] {
  const type = [event.error, event.api_error, event.api_error_type].filter((name) => str(name)).join(' ');
  const { status, resetsAt } = asRecord(asRecord(event.api_error_params).rate_limit_info);
  if (status === 'rejected') state.resetsAt = secondsToMs(resetsAt) ?? state.resetsAt;
  state.apiError = { status: num(event.api_error_status), type, message };
  const limit = usageLimitOf(state.apiError, state);
  if (type === '' && limit === undefined) return [{ type: 'notice', text: oneLine(message) }];
  return [{ type: 'error', message, ...(limit && { limit }) }];
}

/** Returns the limit behind an error. Some messages name the reset time that no field has: `resets 3pm (UTC)`. */
function usageLimitOf(error: ErrorFacts, { resetsAt, now }: ClaudeState): Limit | undefined {
  const limit = limitOf({ ...error, resetsAt });
  const isTimeless = limit?.kind === 'usage' && limit.resetsAt === undefined;
  const time = isTimeless ? resetTimeIn(error.message ?? '', now) : undefined;
  return limit && time ? { ...limit, resetsAt: time } : limit;
}

function onUser(event: JsonRecord, state: ClaudeState): AgentEvent[] {
  if (typeof event.parent_tool_use_id === 'string') return [];
  const message = asRecord(event.message);
  const events = readToolResults(message).flatMap((result): AgentEvent[] => {
    const { id, ok, output } = result;
    const exitCode = ok ? undefined : exitCodeIn(output, /^(?:Error: )?Exit code (\d{1,3})\b/);
    const end = toolEnd(id, { ok, output, exitCode });
    const items = state.tasks.answered(id, !ok, asRecord(event.tool_use_result));
    return items === undefined ? [end] : [end, { type: 'todo', items }];
  });
  // Feedback of a stop hook, a nudge after an empty answer and the like.
  if (event.isSynthetic === true && events.length === 0) {
    return [{ type: 'notice', text: oneLine(textOf(message.content)) }];
  }
  return events;
}

function onRateLimit(info: JsonRecord, state: ClaudeState): AgentEvent[] {
  const window = `${str(info.rateLimitType)?.replaceAll('_', ' ') ?? 'usage'} limit`;
  if (info.status === 'allowed_warning') return [{ type: 'notice', text: `close to the ${window}` }];
  if (info.status !== 'rejected' || info.isUsingOverage === true) return [];
  state.resetsAt = secondsToMs(info.resetsAt);
  const message = `${window} reached`;
  const facts = { type: 'usage_limit', message, resetsAt: state.resetsAt };
  return [{ type: 'error', ...failureOf(message, facts) }];
}

const contextReasons = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker']);

/** `subtype` says `success` for API errors too, and `terminal_reason` of 2.1.197 says `completed`: neither is enough. */
function onResult(event: JsonRecord, state: ClaudeState): AgentEvent[] {
  const reason = str(event.terminal_reason) ?? '';
  const subtype = str(event.subtype) ?? '';
  const ok = event.is_error !== true && !subtype.startsWith('error') && !reason.startsWith('aborted');
  const errors = list(event.errors).filter((text) => typeof text === 'string');
  const error = str(event.result) || errors.join('\n') || reason || subtype;
  const limit = ok ? undefined : resultLimit(event, error, state);
  const { total, since } = readResultUsage(event);
  // Background work or queued messages bring another turn, and another result.
  const more = (num(event.queued_turn_count) ?? 0) > 0 || state.running.size > 0;
  const window = num(asRecord(asRecord(event.modelUsage)[state.model ?? '']).contextWindow);
  return [
    // Programs that imitate the format may have their answer only here.
    ...(ok ? answerIn(event, state) : []),
    ...(window === undefined ? [] : [{ type: 'context', size: { tokens: 0, window } } as const]),
    ...(since === undefined ? [] : [{ type: 'usage', usage: since } as const]),
    {
      type: 'result',
      ok,
      ...(more && { more }),
      ...(ok ? {} : { error }),
      ...(limit && { limit }),
      ...(total && { usage: total }),
    },
  ];
}

function resultLimit(event: JsonRecord, error: string, state: ClaudeState): Limit | undefined {
  if (contextReasons.has(str(event.terminal_reason) ?? '')) return { kind: 'context', message: error };
  // The form of 1.0: `Claude AI usage limit reached|1749924000`.
  const old = /limit reached\|(\d{10})\b/.exec(error)?.[1];
  if (old !== undefined) return { kind: 'usage', resetsAt: Number(old) * 1000, message: error };
  const { apiError } = state;
  const status = num(event.api_error_status) ?? apiError?.status;
  if (apiError === undefined && status === undefined) return undefined;
  return usageLimitOf({ message: error, ...apiError, status }, state);
}

const silentSubtypes = new Set([
  'background_tasks_changed',
  'commands_changed',
  'files_persisted',
  'hook_progress',
  'hook_response',
  'hook_started',
  'memory_recall',
  'memory_saved',
  'plugin_install',
  'post_turn_summary',
  'session_state_changed',
  'status',
  'stop_hook_summary',
  'task_progress',
  'task_summary',
  'thinking_tokens',
  'turn_duration',
]);

const noticedSubtypes = new Set([
  'compact_boundary',
  'informational',
  'local_command_output',
  'model_fallback',
  'model_refusal_fallback',
  'model_refusal_no_fallback',
  'notification',
  'permission_denied',
]);

function onSystem(event: JsonRecord, state: ClaudeState): AgentEvent[] {
  const subtype = str(event.subtype) ?? '';
  const task = str(event.task_id) ?? '';
  switch (subtype) {
    // Old versions have no subtype.
    case '':
    case 'init':
      return [sessionEvent(event.session_id, event.model)];
    case 'api_retry':
      return [onRetry(event)];
    case 'task_started':
      state.running.add(task);
      return [];
    case 'task_notification':
      state.running.delete(task);
      return [];
    case 'task_updated':
      if (asRecord(event.patch).end_time !== undefined) state.running.delete(task);
      return [];
  }
  if (noticedSubtypes.has(subtype)) {
    const text = str(event.message) || str(event.content) || str(event.text) || subtype.replaceAll('_', ' ');
    return [{ type: 'notice', text: oneLine(text) }];
  }
  return silentSubtypes.has(subtype) ? [] : [{ type: 'unknown', name: `system/${subtype}` }];
}

function onRetry(event: JsonRecord): AgentEvent {
  const status = num(event.error_status);
  const type = str(event.error) ?? 'unknown';
  const message = `retry ${num(event.attempt) ?? '?'} of ${num(event.max_retries) ?? '?'}: ${type} (${status ?? 'no answer'})`;
  return { type: 'error', message, limit: limitOf({ status, type }) ?? { kind: 'overload' } };
}

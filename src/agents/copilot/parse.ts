import { oneLine } from '../../core/text.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asSubagent, failedResult, sessionEvent, toolEnd, toolStart } from '../events.ts';
import { asRecord, int, type JsonRecord, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type ErrorFacts, failureOf, readError } from '../limit.ts';

export type CopilotState = ParserState & {
  model: string | undefined;
  /** Failure of the last model call, until one succeeds. */
  failure: ErrorFacts | undefined;
};

export function newState(): CopilotState {
  return { model: undefined, failure: undefined };
}

/** Events that say nothing about the turn, or repeat what another event says. */
const silent = [
  /^(?:hook|permission|skill|subagent|system|user)\./,
  /^assistant\.(?:idle|intent|reasoning|usage|\w+_(?:delta|end|start))$/,
  /^model\.call_(?:final_result|start)$/,
  /^session\.(?:idle|info|resume|shutdown|start|truncation)$/,
  /^session\.\w+_(?:changed?|checkpoint|complete|info|loaded|observation|start|updated)$/,
  /^tool\.(?:execution_partial_result|execution_progress|shell_output|user_requested)$/,
];

export const parse = jsonLines((event, type, state: CopilotState) => {
  const data = asRecord(event.data);
  const isSubagent = event.agentId !== undefined || data.parentToolCallId !== undefined;
  switch (type) {
    case 'session.tools_updated':
      state.model = str(data.model);
      return [];
    case 'assistant.message':
      return onMessage(data, isSubagent);
    case 'tool.execution_start':
      return onToolStart(data, isSubagent);
    case 'tool.execution_complete':
      return isSubagent ? [] : [onToolEnd(data)];
    case 'model.call_finished':
      if (data.outcome === 'success') state.failure = undefined;
      return [];
    case 'model.call_failure':
      return [onCallFailure(data, state)];
    case 'session.error':
      return [onError(data, state)];
    case 'assistant.turn_retry':
      return [{ type: 'notice', text: oneLine(`tries again: ${str(data.reason) ?? 'unknown reason'}`) }];
    case 'session.warning':
      return [{ type: 'notice', text: oneLine(str(data.message) ?? '') }];
    case 'result':
      return onResult(event, state);
  }
  return silent.some((pattern) => pattern.test(type)) ? [] : [{ type: 'unknown', name: type }];
});

/** Reads a whole message; its deltas came before it. */
function onMessage(data: JsonRecord, isSubagent: boolean): AgentEvent[] {
  const text = str(data.content) ?? '';
  if (text === '') return [];
  return [{ type: isSubagent ? 'subagent' : 'text', text }];
}

function onToolStart(data: JsonRecord, isSubagent: boolean): AgentEvent[] {
  const events = [toolStart(data.toolCallId, data.toolName, data.arguments)];
  return isSubagent ? asSubagent(events) : events;
}

/** Reads a tool's end. `success` only means that the tool ran, whatever the exit code. */
function onToolEnd(data: JsonRecord): AgentEvent {
  return toolEnd(data.toolCallId, {
    ok: data.success === true,
    exitCode: int(asRecord(data.shellExecution).exitCode),
    output: str(asRecord(data.result).content) ?? str(asRecord(data.error).message) ?? '',
  });
}

function onCallFailure(data: JsonRecord, state: CopilotState): AgentEvent {
  const body = readError(str(data.errorMessage) ?? '');
  state.failure = {
    ...body,
    status: num(data.statusCode) ?? body.status,
    type: words(data.errorType, data.errorCode, body.type),
  };
  return { type: 'error', ...failureOf(body.message || 'the model did not answer', state.failure) };
}

/** Copilot's names for kinds of errors, in the words of `limitOf`. */
const errorTypes: Record<string, string> = {
  authorization: 'authentication',
  quota: 'insufficient_quota',
  context_limit: 'context_length',
};

/** Reads the error after the last retry; the provider's message is in the failures before it. */
function onError(data: JsonRecord, state: CopilotState): AgentEvent {
  const message = str(data.message) ?? '';
  const errorType = str(data.errorType) ?? '';
  // `user_weekly_rate_limited` and its like are limits of the plan.
  const isPlan = /^user_\w+_rate_limited$/.test(str(data.errorCode) ?? '');
  const type = isPlan ? 'usage_limit' : (errorTypes[errorType] ?? errorType);
  state.failure = {
    ...state.failure,
    status: num(data.statusCode) ?? state.failure?.status,
    type: words(state.failure?.type, type),
    message,
  };
  return { type: 'error', ...failureOf(message, state.failure) };
}

function words(...values: readonly unknown[]): string {
  return values.filter((value) => str(value)).join(' ');
}

function onResult(event: JsonRecord, { model, failure = {} }: CopilotState): AgentEvent[] {
  const session = event.sessionId === undefined ? [] : [sessionEvent(event.sessionId, model)];
  const code = num(event.exitCode);
  if (code === 0) return [...session, { type: 'result', ok: true }];
  return [...session, failedResult(failureOf(failure.message || `exit code ${code}`, failure))];
}

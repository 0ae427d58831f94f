import { oneLine } from '../../core/text.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import {
  asSubagent,
  exitCodeIn,
  failedResult,
  toolEnd,
  toolStart,
  usageOf,
  usageWithCache,
} from '../events.ts';
import { asRecord, type JsonRecord, list, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type Failure, failureOf } from '../limit.ts';
import { resetTimeIn } from '../reset-time.ts';

export type ClineState = ParserState & {
  /** Running subagents: while there is one, events do not say whose they are. */
  readonly subagents: Set<string>;
  /** Tool calls of the agent itself. */
  readonly tools: Set<string>;
  /** Last text of the agent. */
  answer: string;
  /** Fatal error; the result repeats only its message. */
  failure: Failure | undefined;
};

export function newState(): ClineState {
  return { subagents: new Set(), tools: new Set(), answer: '', failure: undefined };
}

export const parse = jsonLines((event, type, state: ClineState) => {
  switch (type) {
    case 'hook_event':
      onHook(event, state);
      return [];
    case 'agent_event':
      return onAgentEvent(asRecord(event.event), state);
    case 'error':
      return [onFailure(str(event.message) ?? '', undefined, state)];
    case 'run_result':
      return onResult(event, state);
  }
  return [{ type: 'unknown', name: type }];
});

function onHook({ hookEventName, agentId, parentAgentId }: JsonRecord, { subagents }: ClineState): void {
  const id = str(agentId);
  if (id === undefined || typeof parentAgentId !== 'string') return;
  if (hookEventName === 'agent_start') subagents.add(id);
  else if (str(hookEventName)?.startsWith('agent_')) subagents.delete(id);
}

const silent = new Set(['content_update', 'done', 'iteration_end', 'iteration_start']);

function onAgentEvent(event: JsonRecord, state: ClineState): AgentEvent[] {
  const type = str(event.type) ?? '';
  if (silent.has(type)) return [];
  switch (type) {
    case 'content_start':
      return event.contentType === 'tool' ? onToolStart(event, state) : [];
    case 'content_end':
      if (event.contentType === 'tool') return onToolEnd(event, state);
      return event.contentType === 'text' ? [onText(str(event.text) ?? '', state)] : [];
    case 'usage':
      return [{ type: 'usage', usage: usageWithCache(tokensIn(event)) }];
    case 'notice':
      return [{ type: 'notice', text: oneLine(str(event.message) ?? '') }];
    case 'error': {
      const message = str(asRecord(event.error).message) ?? '';
      // Failed tool calls appear here again, with their output.
      if (event.recoverable !== false) return [{ type: 'notice', text: oneLine(message) }];
      return [onFailure(message, str(event.errorClass), state)];
    }
  }
  return [{ type: 'unknown', name: `agent_event/${type}` }];
}

/** Reads a whole text; its deltas came before it. */
function onText(text: string, state: ClineState): AgentEvent {
  if (state.subagents.size > 0) return { type: 'subagent', text };
  state.answer = text;
  return { type: 'text', text };
}

function onToolStart(event: JsonRecord, state: ClineState): AgentEvent[] {
  const { commands, ...input } = asRecord(event.input);
  const lines = list(commands).filter((command) => typeof command === 'string');
  const start = toolStart(event.toolCallId, event.toolName, lines.length > 0 ? lines.join('; ') : input);
  if (state.subagents.size > 0) return asSubagent([start]);
  state.tools.add(start.id);
  return [start];
}

/** Reads a tool's output: one result, or a list with one for each command. */
function onToolEnd(event: JsonRecord, state: ClineState): AgentEvent[] {
  const id = str(event.toolCallId) ?? '';
  if (!state.tools.delete(id)) return [];
  const results = (Array.isArray(event.output) ? event.output : [event.output]).map(asRecord);
  const failure = results.find((result) => result.success === false);
  const ok = failure === undefined && event.error === undefined;
  const exitCode = exitCodeIn(str(failure?.error) ?? '', /^Command exited with code (\d{1,3})$/);
  return [toolEnd(id, { ok, exitCode, output: results.map(outputOf).join('\n') })];
}

function outputOf({ result, text, error }: JsonRecord): string {
  return str(result) ?? str(text) ?? str(error) ?? '';
}

function tokensIn(usage: JsonRecord) {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
  };
}

function onFailure(message: string, errorClass: string | undefined, state: ClineState): AgentEvent {
  const type = errorClass === 'auth' ? 'authentication' : errorClass;
  state.failure = failureOf(message, { type, message, resetsAt: resetTimeIn(message, state.now) });
  return { type: 'error', ...state.failure };
}

/** Takes only the cost from the result: its token counts leave subagents out, unlike the usage events. */
function onResult(event: JsonRecord, state: ClineState): AgentEvent[] {
  const cost = num(asRecord(event.aggregateUsage).totalCost);
  const usage: AgentEvent[] = cost === undefined ? [] : [{ type: 'usage', usage: usageOf({ cost }) }];
  const text = str(event.text) ?? '';
  if (event.finishReason === 'completed') {
    // The answer was given while a subagent was still at work.
    const answer: AgentEvent[] = text === state.answer ? [] : [{ type: 'text', text }];
    return [...answer, ...usage, { type: 'result', ok: true }];
  }
  const { message, ...rest } = state.failure ?? {};
  const reason = `finished with ${str(event.finishReason) ?? 'no reason'}`;
  return [...usage, failedResult({ ...rest, message: message || text || reason })];
}

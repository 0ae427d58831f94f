import { oneLine } from '../../core/text.ts';
import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asSubagent, failedResult, sessionEvent, textOf, todoEvent, toolEnd, toolStart } from '../events.ts';
import { asRecord, count, int, type JsonRecord, list, num, parseRecord, str } from '../json.ts';
import { type ErrorFacts, type Failure, failureOf, readError } from '../limit.ts';
import { resetTimeIn } from '../reset-time.ts';
import { summarise } from '../summary.ts';
import { protocolVersion, requestIds } from './client.ts';
import { type AcpCall, mergeCall } from './tool-call.ts';
import { addMessage, type Tally, usageIn } from './usage.ts';

/** Lines that the driver adds to the stream: what it refused, and why it gave up. */
export const deniedMethod = 'ralph/denied';
export const failedMethod = 'ralph/failed';

type OpenCall = AcpCall & { readonly isStarted: boolean };

export type AcpState = ParserState & {
  /** The session of the turn, which begins with it: a session that is loaded repeats its history before. */
  session: string | undefined;
  hasSession: boolean;
  isOver: boolean;
  /** Ways to log in, in the agent's words. */
  logins: readonly string[];
  readonly calls: Map<string, OpenCall>;
  readonly endedCalls: Set<string>;
  /** Message that the next piece of text continues. */
  speech: string | null;
  /** Beginning of the last piece of text. */
  lastWords: string;
  readonly tally: Tally;
};

export function newState(): AcpState {
  return {
    session: undefined,
    hasSession: false,
    isOver: false,
    logins: [],
    calls: new Map(),
    endedCalls: new Set(),
    speech: null,
    lastWords: '',
    tally: { read: 0, written: 0, cost: undefined },
  };
}

/** Parses a line of the Agent Client Protocol: JSON-RPC, one message a line. */
export function parse(line: string, state: AcpState): AgentEvent[] {
  if (line.trim() === '') return [];
  const message = parseRecord(line);
  if (message === undefined) return [{ type: 'notice', text: oneLine(line) }];
  const method = str(message.method);
  if (method === undefined) return onResponse(message, state);
  const params = asRecord(message.params);
  if (method === 'session/update') return onUpdate(params, state);
  if (method === 'session/request_permission') return onAsked(params, state);
  if (method === deniedMethod) return onDenied(params, state);
  if (method === failedMethod) return [failedResult({ message: str(params.message) ?? 'failed' })];
  // A request is answered, if only by a refusal; extensions of an agent are its own.
  const isOther = message.id !== undefined || /^(?:_|qwen\/)/.test(method);
  return isOther ? [] : [{ type: 'unknown', name: oneLine(method, 60) }];
}

function onResponse({ id, result, error }: JsonRecord, state: AcpState): AgentEvent[] {
  const answer = asRecord(result);
  if (id === requestIds.mode) return [];
  if (!Object.values<unknown>(requestIds).includes(id) || state.isOver)
    return [{ type: 'unknown', name: 'response without a request' }];
  if (error !== undefined) return [onError(asRecord(error), state)];
  if (id === requestIds.initialize) {
    state.logins = list(answer.authMethods).flatMap((way) => str(asRecord(way).name) ?? []);
    if (num(answer.protocolVersion) === protocolVersion) return [];
    const version = num(answer.protocolVersion) ?? 'no known version';
    return [failedResult({ message: `it speaks ${version} of the protocol, and ralph ${protocolVersion}` })];
  }
  if (id === requestIds.prompt) return onStop(answer, state);
  state.hasSession = true;
  // Only a new session is named here; one that goes on is named by its updates.
  return str(answer.sessionId) === undefined ? [] : [openSession(answer.sessionId, state, answer)];
}

function openSession(id: unknown, state: AcpState, { models }: JsonRecord = {}): AgentEvent {
  state.session = str(id) ?? '';
  return sessionEvent(id, asRecord(models).currentModelId);
}

const authRequired = -32_000;

function onError({ code, message, data }: JsonRecord, state: AcpState): AgentEvent {
  const { details, message: inner } = asRecord(data);
  const more = [data, details, inner].map(str).find((text) => text !== undefined);
  const words = [str(message) ?? 'an error without a message', more].filter((text) => text);
  return failedResult(failureIn([...new Set(words)].join(': '), code, state));
}

/** Reads an error in the agent's words; one about the login names the ways to log in. */
function failureIn(text: string, code: unknown, { logins, now }: AcpState): Failure {
  const facts: ErrorFacts =
    code === authRequired ? { message: text, type: 'authentication' } : readError(text);
  const { limit, message } = failureOf(facts.message || text, {
    ...facts,
    status: facts.status ?? httpStatus(code) ?? httpStatus(Number(/\bHTTP (\d{3})\b/.exec(text)?.[1])),
    resetsAt: facts.resetsAt ?? resetTimeIn(text, now),
  });
  const ways = limit?.kind === 'auth' && logins.length > 0 ? ` (ways to log in: ${logins.join(', ')})` : '';
  return { message: `${message}${ways}`, ...(limit ? { limit } : {}) };
}

/** Some agents answer with the status of the provider in place of a code of JSON-RPC. */
function httpStatus(code: unknown): number | undefined {
  const number = int(code) ?? 0;
  return number >= 400 && number < 600 ? number : undefined;
}

const failedStops: Readonly<Record<string, string>> = {
  max_tokens: 'the answer was cut at the output limit',
  max_turn_requests: 'it reached the most requests that it makes in one turn',
  refusal: 'the model refused to go on',
  cancelled: 'the turn was cancelled',
};

/**
 * Returns why a turn without a tool call is no answer of the model, which used no tokens; undefined for any other. When the
 * provider fails again and again, OpenCode 1.18.33 ends the turn without a word, and Copilot 1.0.102 says the error.
 */
function failureBehind(usage: Usage, state: AcpState): Failure | undefined {
  const { calls, endedCalls, tally, lastWords } = state;
  const used = usage.estimated ? 0 : usage.inputTokens + usage.outputTokens;
  if (used + calls.size + endedCalls.size > 0) return undefined;
  if (tally.written === 0) return { message: 'it ended the turn without an answer of the model' };
  return lastWords.startsWith('Error: ') ? failureIn(lastWords, undefined, state) : undefined;
}

/** Ends the turn. A call whose end was not reported has not succeeded. */
function onStop(answer: JsonRecord, state: AcpState): AgentEvent[] {
  state.isOver = true;
  const open = [...state.calls.values()].filter(({ isStarted }) => isStarted);
  const ends = open.map(({ id }) => toolEnd(id, { ok: false, output: 'its end was not reported' }));
  const usage = usageIn(answer, state.tally);
  const reason = str(answer.stopReason) ?? 'no reason';
  const failure = reason === 'end_turn' ? failureBehind(usage, state) : undefined;
  if (failure !== undefined) return [failedResult(failure, usage)];
  if (reason === 'end_turn') return [...ends, { type: 'result', ok: true, usage }];
  return [...ends, failedResult({ message: failedStops[reason] ?? `it stopped with "${reason}"` }, usage)];
}

/** Reads an update. Those of another session are of a subagent. */
function onUpdate({ sessionId, update }: JsonRecord, state: AcpState): AgentEvent[] {
  if (!state.hasSession) return [];
  const first = state.session === undefined ? [openSession(sessionId, state)] : [];
  const isOwn = str(sessionId) === state.session;
  const events = isOwn ? onOwn(asRecord(update), state) : asSubagent(onOther(asRecord(update)));
  return [...first, ...events];
}

/** Updates that say nothing about the turn. */
const silent =
  /^(?:user_message_chunk|(?:available_commands|current_mode|config_option|session_info)_update|compaction_\w+)$/;

function onOwn(update: JsonRecord, state: AcpState): AgentEvent[] {
  const type = str(update.sessionUpdate) ?? '';
  if (type === 'agent_message_chunk') return onText(update, state);
  if (type === 'usage_update') return onUsage(update, state);
  if (silent.test(type) || state.isOver) return [];
  if (type === 'agent_thought_chunk') {
    state.speech = null;
    state.tally.written += textOf([update.content]).length;
    return [];
  }
  if (type === 'tool_call') state.speech = null;
  if (type === 'tool_call' || type === 'tool_call_update') return onCall(update, state);
  if (type === 'plan') return [todoEvent(update.entries)];
  if (type === 'notice') return [{ type: 'notice', text: oneLine(str(update.message) ?? '') }];
  return [{ type: 'unknown', name: `session/update ${oneLine(type, 60)}`.trim() }];
}

function onText(update: JsonRecord, state: AcpState): AgentEvent[] {
  const text = textOf([update.content]);
  addMessage(update, state.tally);
  if (text === '') return [];
  const speaker = str(update.messageId) ?? '';
  // Copilot 1.0.102 says what it has to say itself in whole pieces among those of the model.
  const isRemark = /^(?:Info|Error): [^<]*$/.test(text);
  const delta = state.speech === speaker && !isRemark;
  state.speech = isRemark ? null : speaker;
  state.lastWords = text.slice(0, 1000);
  state.tally.written += text.length;
  return [{ type: 'text', text, ...(delta ? { delta } : {}) }];
}

function onOther(update: JsonRecord): AgentEvent[] {
  if (update.sessionUpdate === 'agent_message_chunk')
    return [{ type: 'text', text: textOf([update.content]) }];
  return update.sessionUpdate === 'tool_call' ? [startOf(mergeCall(undefined, update))] : [];
}

/** Reads the size of the context, and the cost of the session so far. */
function onUsage({ used, size, cost }: JsonRecord, { tally, resumed }: AcpState): AgentEvent[] {
  const { amount, currency } = asRecord(cost);
  // It includes the cost of earlier turns.
  if (currency === 'USD' && !resumed) tally.cost = count(amount);
  const tokens = count(used);
  const window = count(size);
  if (tokens === 0) return [];
  return [{ type: 'context', size: { tokens, ...(window ? { window } : {}) } }];
}

/** Reads a call and its updates. Its start is told once the agent said what it does. */
function onCall(update: JsonRecord, state: AcpState, isAsked = false): AgentEvent[] {
  const id = str(update.toolCallId) ?? '';
  if (state.endedCalls.has(id)) return [];
  const before = state.calls.get(id);
  const call = mergeCall(before, update);
  const status = str(update.status) ?? '';
  const isEnd = status === 'completed' || status === 'failed';
  const isTold = isAsked || isEnd || status === 'in_progress' || call.paths.length > 0;
  const start = isTold && !before?.isStarted ? [startOf(call)] : [];
  state.calls.set(id, { ...call, isStarted: isTold || before?.isStarted === true });
  if (!isEnd) return start;
  closeCall(id, state);
  const output = outputOf(update);
  state.tally.read += output.length;
  return [...start, toolEnd(id, { ok: status === 'completed', output, exitCode: exitCodeOf(update) })];
}

function onAsked({ toolCall }: JsonRecord, state: AcpState): AgentEvent[] {
  state.speech = null;
  return state.isOver ? [] : onCall({ ...asRecord(toolCall), status: 'pending' }, state, true);
}

/** Ends a call that was refused. What the agent says of it afterwards does not count. */
function onDenied({ toolCallId, reason }: JsonRecord, state: AcpState): AgentEvent[] {
  const id = str(toolCallId) ?? '';
  const start = onCall({ toolCallId: id }, state, true);
  closeCall(id, state);
  return [...start, toolEnd(id, { ok: false, output: str(reason) ?? 'denied' })];
}

function closeCall(id: string, { calls, endedCalls }: AcpState): void {
  calls.delete(id);
  endedCalls.add(id);
}

function startOf({ id, kind, name, title, input }: AcpCall): AgentEvent {
  return { ...toolStart(id, name ?? kind, input), summary: summarise(input) || oneLine(title) };
}

function outputOf({ content, rawOutput }: JsonRecord): string {
  const texts = list(content).map((entry) => textOf([asRecord(entry).content]));
  const { output, error } = asRecord(rawOutput);
  return (
    texts.filter((text) => text !== '').join('\n') || (str(rawOutput) ?? str(output) ?? str(error) ?? '')
  );
}

/** The protocol has no place for exit codes; these are the places of the agents that report them. */
function exitCodeOf({ rawOutput }: JsonRecord): number | undefined {
  const { exitCode, exit_code, metadata, contents } = asRecord(rawOutput);
  const inner = list(contents).map((entry) => asRecord(entry).exitCode);
  return [exitCode, exit_code, asRecord(metadata).exit, ...inner].map(int).find((code) => code !== undefined);
}

import { isRefusal } from '../../agents/refusal.ts';
import { isObject } from '../../core/json.ts';

/** A piece of a message. Only `text` pieces are the assistant's own words. */
export interface HostPart {
  type?: string;
  text?: string;
}

/** A message as hosts have them: with its content as text or in parts, or as OpenCode does, with `info` and `parts`. */
export interface HostMessage {
  id?: string;
  role?: string;
  content?: string | readonly (HostPart | string)[] | null;
  parts?: readonly HostPart[];
  info?: {
    id?: string;
    role?: string;
    summary?: unknown;
    /** OpenCode only: an answer without `completed` is still coming. */
    time?: { created?: number; completed?: number };
    error?: unknown;
  };
}

export type HostMessages = readonly HostMessage[] | { readonly data?: readonly HostMessage[] };

/** A message without the differences between hosts. */
export type Message = {
  readonly id: string | null;
  readonly role: string;
  readonly text: readonly string[];
  /** Number of tool calls; null if the host does not report them. */
  readonly toolCalls: number | null;
  /** Calls, of this message or an earlier one, that failed or were denied. */
  readonly failedCalls: number;
  readonly refusedCalls: number;
  /** True for an answer that is not complete, if the host reports that. */
  readonly underWay: boolean;
};

/** A place among the messages of a session. */
export type Mark = { readonly count: number; readonly id: string | null };

// Anthropic, Vercel's AI SDK, OpenAI, OpenCode and Gemini, in this order.
const toolPart = /^(tool_use|tool-call|tool-invocation|tool_call|function_call|tool|functionCall)$/;

/** Reads the messages of any host. Leaves out what is no message. */
export function readMessages(response: unknown): Message[] {
  const list = isObject(response) ? response.data : response;
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(readMessage);
}

/** Returns the messages after the mark; without a usable mark, those after the last words of the user: results of tools have none. */
export function messagesSince(messages: readonly Message[], mark: Mark | null): readonly Message[] {
  const index = mark === null || mark.id === null ? -1 : messages.findLastIndex(({ id }) => id === mark.id);
  if (index !== -1) return messages.slice(index + 1);
  if (mark !== null && mark.id === null && messages.length > mark.count) return messages.slice(mark.count);
  return messages.slice(messages.findLastIndex((each) => isFromUser(each) && each.text.length > 0) + 1);
}

export function markOf(messages: readonly Message[]): Mark {
  return { count: messages.length, id: messages.at(-1)?.id ?? null };
}

/** Returns a key of the last message of the user, which changes when the user writes. */
export function lastUserMark(messages: readonly Message[]): string {
  const fromUser = messages.filter(isFromUser);
  return `${fromUser.length} ${fromUser.at(-1)?.id ?? ''}`;
}

function isFromUser({ role }: Message): boolean {
  return role === 'user';
}

export function isFromAssistant({ role }: Message): boolean {
  return role === 'assistant';
}

function readMessage(message: Readonly<Record<string, unknown>>): Message {
  const info = isObject(message.info) ? message.info : message;
  const role = typeof info.role === 'string' ? info.role : '';
  const id = typeof info.id === 'string' ? info.id : null;
  const content = message.parts ?? message.content;
  const { time, error } = info;
  const underWay =
    role === 'assistant' && isObject(time) && time.completed === undefined && error === undefined;
  // A summary repeats what was said before, claims too.
  const empty = { id, role, text: [], toolCalls: null, failedCalls: 0, refusedCalls: 0, underWay };
  if (info.summary === true) return empty;
  if (typeof content === 'string') return { ...empty, text: [content] };
  if (!Array.isArray(content)) return empty;
  const parts = content.filter(isObject);
  const failures = parts.filter(isFailure);
  return {
    ...empty,
    text: content.flatMap(textOf),
    toolCalls: parts.filter(({ type }) => toolPart.test(String(type))).length,
    failedCalls: failures.length,
    refusedCalls: failures.filter((part) => isRefusal(JSON.stringify(part))).length,
  };
}

/** True for a result that is an error (Anthropic, Vercel) or a call that failed (OpenCode, whose commands have an exit code). */
function isFailure({ is_error, isError, state }: Readonly<Record<string, unknown>>): boolean {
  if (is_error === true || isError === true) return true;
  if (!isObject(state)) return false;
  const exitCode = isObject(state.metadata) ? state.metadata.exit : undefined;
  return state.status === 'error' || (typeof exitCode === 'number' && exitCode !== 0);
}

/**
 * Returns what the assistant said and did in a turn. `toolCalls` counts those that succeeded; null if no message of the
 * assistant lists tools. The error of the host counts only if there is no answer.
 */
export function readAnswer(messages: readonly Message[], hostError: string | null) {
  const answers = messages.filter(isFromAssistant);
  const text = answers.flatMap((message) => message.text);
  const calls = answers.flatMap(({ toolCalls }) => toolCalls ?? []);
  const failures = sum(messages.map(({ failedCalls }) => failedCalls));
  const refusals = sum(messages.map(({ refusedCalls }) => refusedCalls));
  return {
    text,
    toolCalls: calls.length === 0 ? null : Math.max(0, sum(calls) - failures),
    /** True if every tool call was refused. */
    allRefused: sum(calls) > 0 && sum(calls) === refusals,
    ...(hostError !== null && text.length === 0 ? { error: hostError } : {}),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function textOf(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  if (!isObject(part) || typeof part.text !== 'string') return [];
  return part.type === 'text' || part.type === undefined ? [part.text] : [];
}

/** Returns what a host answered. Some hosts return an error instead of throwing it. */
export async function answerOf<T>(call: Promise<T>): Promise<T> {
  const answer = await call;
  const error = isObject(answer) ? (answer.error ?? null) : null;
  if (error !== null) throw new Error(readHostError(error).text);
  return answer;
}

/** Reads an error as hosts report it: whether the user aborted the turn, and its text. */
export function readHostError(value: unknown): { readonly aborted: boolean; readonly text: string } {
  const { name, message, data } = isObject(value) ? value : { message: value };
  const words = [name, message ?? (isObject(data) ? data.message : undefined)];
  return {
    aborted: name === 'MessageAbortedError' || name === 'AbortError',
    text: words.filter((word) => typeof word === 'string').join(': ') || 'unknown error',
  };
}

/** Returns the session of an event; undefined if its data has none. */
export function sessionOfEvent(data: Readonly<Record<string, unknown>>): string | undefined {
  const info = isObject(data.info) ? data.info.id : undefined;
  return [data.sessionId, data.sessionID, info].find((id) => typeof id === 'string');
}

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
    /** Of OpenCode: an answer without `completed` is still coming. */
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
  /** Null where the host does not say. */
  readonly toolCalls: number | null;
  /** An answer that has begun and is not complete, where the host says so. */
  readonly underWay: boolean;
};

/** Where in a session's messages something happened. */
export type Mark = { readonly count: number; readonly id: string | null };

// Anthropic, Vercel's AI SDK, OpenAI, OpenCode and Gemini, in this order.
const toolPart = /^(tool_use|tool-call|tool-invocation|tool_call|function_call|tool|functionCall)$/;

/** Whatever the host gave, as messages; what is none is left out. */
export function readMessages(given: unknown): Message[] {
  const list = isObject(given) ? given.data : given;
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(readMessage);
}

/** The messages after the mark. Without a usable mark, a turn begins after the last message of the user. */
export function messagesSince(messages: readonly Message[], mark: Mark | null): readonly Message[] {
  const known = mark === null || mark.id === null ? -1 : messages.findLastIndex(({ id }) => id === mark.id);
  if (known !== -1) return messages.slice(known + 1);
  if (mark !== null && mark.id === null && messages.length > mark.count) return messages.slice(mark.count);
  return messages.slice(messages.findLastIndex(isFromUser) + 1);
}

export function markOf(messages: readonly Message[]): Mark {
  return { count: messages.length, id: messages.at(-1)?.id ?? null };
}

/** Where the last message of the user is: it moves when the user writes. */
export function lastUserMark(messages: readonly Message[]): string {
  const fromUser = messages.filter(isFromUser);
  return `${fromUser.length} ${fromUser.at(-1)?.id ?? ''}`;
}

export function isFromUser({ role }: Message): boolean {
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
  // A summary repeats what was said before, promises too.
  if (info.summary === true) return { id, role, text: [], toolCalls: null, underWay };
  if (typeof content === 'string') return { id, role, text: [content], toolCalls: null, underWay };
  if (!Array.isArray(content)) return { id, role, text: [], toolCalls: null, underWay };
  return {
    id,
    role,
    text: content.flatMap(textOf),
    toolCalls: content.filter((part) => isObject(part) && toolPart.test(String(part.type))).length,
    underWay,
  };
}

function textOf(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  if (!isObject(part) || typeof part.text !== 'string') return [];
  return part.type === 'text' || part.type === undefined ? [part.text] : [];
}

import type { JsonRecord } from '../../../src/agents/json.ts';
import type { Usage } from '../../../src/core/turn.ts';
import type { BlockAnswer, ModelError } from './script.ts';
import type { OfferedTool, ToolCall } from './tools.ts';

export type ApiName = 'anthropic' | 'chat' | 'responses' | 'gemini';

/** A block with everything known about it that an API may want to tell. */
export type ReplyBlock = { readonly index: number; readonly id: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | ({ readonly kind: 'call' } & ToolCall)
);

/** Silence; Infinity is for ever. */
export type Pause = { readonly pause: number };

/** An answer before it is put into the words of an API. */
export type Reply = {
  readonly id: string;
  readonly model: string;
  readonly parts: readonly (ReplyBlock | Pause)[];
  readonly usage: Required<Omit<Usage, 'costUsd' | 'estimated'>>;
  readonly stop: BlockAnswer['stop'];
};

export type WireEvent = { readonly data: JsonRecord | '[DONE]' } | Pause;

/** The same answer in one piece and as a stream, whose `end` is missing where the connection is cut. */
type WireAnswer = {
  readonly whole: JsonRecord;
  readonly events: readonly WireEvent[];
  readonly end: readonly WireEvent[];
};

/** How one provider's API is spoken. */
export type WireApi = {
  readonly name: ApiName;
  /** Whether each event is named by a line of its own. */
  readonly namedEvents: boolean;
  serves(path: string): boolean;
  tools(body: JsonRecord): readonly OfferedTool[];
  answer(reply: Reply): WireAnswer;
  errorBody(error: ModelError): unknown;
  /** How the provider refuses when the plan is used up until `resetsAt` (epoch milliseconds). */
  limit(resetsAt: number): ModelError;
};

export function blocksOf(reply: Reply): ReplyBlock[] {
  return reply.parts.filter((part) => 'kind' in part);
}

/** The events of the blocks in order, with the pauses between them. */
export function eventsOf(reply: Reply, toData: (block: ReplyBlock) => readonly JsonRecord[]): WireEvent[] {
  return reply.parts.flatMap((part): WireEvent[] =>
    'kind' in part ? toData(part).map((data) => ({ data })) : [part],
  );
}

export function makesCalls(reply: Reply): boolean {
  return blocksOf(reply).some(({ kind }) => kind === 'call');
}

/** Pieces as a model would send them: small enough to tear a tag apart, never half a character. */
export function pieces(text: string, length = 12): string[] {
  const characters = Array.from(text);
  const count = Math.max(1, Math.ceil(characters.length / length));
  return Array.from({ length: count }, (_, i) => characters.slice(i * length, (i + 1) * length).join(''));
}

/** Tokens that went in, cached ones included, as most APIs count them. */
export function allInput({ usage }: Reply): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

import * as v from 'valibot';
import { isObject } from '../../../src/core/json.ts';
import { strictObject } from '../../../src/core/strict-object.ts';
import type { Usage } from '../../../src/core/turn.ts';
import {
  anyObject,
  assertBy,
  boolean,
  count,
  file,
  fullListOf,
  listOf,
  oneKeyOf,
  oneOf,
  size,
  string,
  tokens,
  yes,
} from '../../../src/testkit/schemas.ts';

/** One piece of an answer, by its one key. */
export type AnswerBlock =
  | { readonly text: string }
  | { readonly thinking: string }
  /** A call of the shell tool that the client offers. */
  | { readonly shell: string }
  /** A call of the tool that writes files; the path has to be absolute for some clients. */
  | { readonly write: { readonly path: string; readonly content: string } }
  /** A call of any tool, as it is. */
  | { readonly tool: { readonly name: string; readonly input: Readonly<Record<string, unknown>> } }
  /** Milliseconds of silence. */
  | { readonly delay: number }
  /** The rest never comes. */
  | { readonly hang: true };

type AnswerUsage = Partial<Omit<Usage, 'costUsd' | 'estimated'>>;

/** What the model says to one request. */
export type BlockAnswer = {
  readonly blocks: readonly AnswerBlock[];
  readonly usage?: AnswerUsage;
  /** Why it stopped, where it did not simply end. */
  readonly stop?: 'max-tokens' | 'refusal';
  /** The connection breaks before the answer is whole. */
  readonly cut?: boolean;
};

/** An error of the API: with `body` as it is, otherwise as the provider words its errors. */
export type ModelError = {
  readonly status: number;
  readonly type?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** `limit` is the provider's usage limit: from the first request on, for that long, every request is refused. */
export type ModelAnswer = (
  | BlockAnswer
  | { readonly error: ModelError }
  | { readonly limit: { readonly seconds: number } }
) & {
  /** Given this many times before the next one comes; 1 unless told. */
  readonly repeat?: number;
};

/** What a model server answers, request by request. The last answer is repeated for ever. */
export type ModelScript = { readonly answers: readonly ModelAnswer[] };

/** Throws one sentence that names the place and what is expected there. */
export function assertModelScript(value: unknown): asserts value is ModelScript {
  const remedy = 'see docs/real-agents.md for the answers of a script';
  assertBy(script, value, { code: 'model-script', whose: "model server's", remedy });
}

const block = oneKeyOf({
  text: string,
  thinking: string,
  shell: string,
  write: file,
  tool: strictObject({ name: string, input: anyObject }),
  delay: count,
  hang: yes,
});
const repeat = v.exactOptional(size);
const status = v.message(v.pipe(v.number(), v.minValue(400), v.ltValue(600)), 'an HTTP status');
const text = v.exactOptional(string);

const blockAnswer = strictObject({
  blocks: listOf(block),
  usage: v.exactOptional(tokens),
  stop: v.exactOptional(oneOf('max-tokens', 'refusal')),
  cut: v.exactOptional(boolean),
  repeat,
});
const errorAnswer = strictObject({
  error: strictObject({
    status,
    type: text,
    message: text,
    headers: v.exactOptional(anyObject),
    body: v.exactOptional(v.unknown()),
  }),
  repeat,
});
const limitAnswer = strictObject({ limit: strictObject({ seconds: size }) });

/** Judged by the kind of answer that its key names, so that the message names the place. */
const answer = v.lazy((value) => {
  if (isObject(value) && 'error' in value) return errorAnswer;
  return isObject(value) && 'limit' in value ? limitAnswer : blockAnswer;
});

const script = strictObject({ answers: fullListOf(answer) });

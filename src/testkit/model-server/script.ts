import { RalphError } from '../../core/error.ts';
import type { Usage } from '../../core/turn.ts';
import { type Check, is, isRecord, listOf, notEmpty, oneOf, record } from '../check.ts';

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

export type AnswerUsage = Partial<Omit<Usage, 'costUsd' | 'estimated'>>;

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
  const problem = script(value, 'script');
  if (problem === null) return;
  throw new RalphError('model-script', `The model server's script is wrong: ${problem}.`, {
    remedy: 'see docs/real-agents.md for the answers of a script',
  });
}

const string = is('a string', (value) => typeof value === 'string');
const yes = is('true', (value) => value === true);
const count = is('a number of 0 or more', (value) => typeof value === 'number' && value >= 0);
const size = is('a number above 0', (value) => typeof value === 'number' && value > 0);
const anything: Check = () => null;

const blockChecks: Readonly<Record<string, Check>> = {
  text: string,
  thinking: string,
  shell: string,
  write: record({ path: string, content: string }),
  tool: record({ name: string, input: isRecord }),
  delay: count,
  hang: yes,
};

const answerChecks: Readonly<Record<string, Check>> = {
  blocks: record(
    { blocks: listOf(block) },
    {
      usage: record(
        {},
        { inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count },
      ),
      stop: oneOf('max-tokens', 'refusal'),
      cut: is('true or false', (value) => typeof value === 'boolean'),
      repeat: size,
    },
  ),
  error: record(
    {
      error: record(
        { status: is('an HTTP status', (value) => typeof value === 'number' && value >= 400 && value < 600) },
        { type: string, message: string, headers: isRecord, body: anything },
      ),
    },
    { repeat: size },
  ),
  limit: record({ limit: record({ seconds: size }) }),
};

const script = record({ answers: notEmpty(listOf(answer)) });

function answer(value: unknown, path: string): string | null {
  const problem = isRecord(value, path);
  if (problem !== null) return problem;
  const [kind] = Object.keys(answerChecks).filter((name) => Object.hasOwn(Object(value), name));
  const check = kind === undefined ? undefined : answerChecks[kind];
  return check === undefined
    ? `${path} has none of ${Object.keys(answerChecks).join(', ')}`
    : check(value, path);
}

function block(value: unknown, path: string): string | null {
  const problem = isRecord(value, path);
  if (problem !== null) return problem;
  const [[name, content] = ['', null], ...others] = Object.entries(Object(value));
  const check = Object.hasOwn(blockChecks, name) ? blockChecks[name] : undefined;
  if (check === undefined || others.length > 0) {
    return `${path} has to have one of the keys ${Object.keys(blockChecks).join(', ')}`;
  }
  return check(content, `${path}.${name}`);
}

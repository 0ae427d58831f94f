import type { Limit, LimitKind } from '../core/turn.ts';
import { asRecord, num, parseRecord, secondsToMs, str } from './json.ts';

/** Facts of an error field. Never filled from tool output or from the assistant's own text. */
export type ErrorFacts = {
  /** HTTP status. */
  readonly status?: number | undefined;
  /** The provider's error type or code, such as `insufficient_quota`. */
  readonly type?: string | undefined;
  readonly message?: string | undefined;
  /** Epoch milliseconds. */
  readonly resetsAt?: number | undefined;
};

const kindsByType: readonly (readonly [RegExp, LimitKind])[] = [
  [/insufficient_quota|billing|credit|payment/i, 'quota'],
  [/usage_limit|usage_not_included/i, 'usage'],
  [/context_length|context_window|prompt_too_long|request_too_large/i, 'context'],
  [/authentication|unauthorized|permission_error|invalid_api_key|oauth/i, 'auth'],
  [/rate_limit|overloaded|server_error|^api_error$|unavailable/i, 'overload'],
];

const kindsByMessage: readonly (readonly [RegExp, LimitKind])[] = [
  [/credit balance|insufficient.quota|quota exceeded|exceeded your current quota|billing/i, 'quota'],
  [/(?:prompt|input) is too long|maximum context|context (?:length|window)/i, 'context'],
  [
    /usage limit|out of extra usage|(?<!rate )limit reached\b|hit your .{0,30}limit|exhausted your .{0,30}quota/i,
    'usage',
  ],
  [/invalid (?:x-)?api.key|not logged in|please (?:run \/)?log ?in|unauthori[sz]ed/i, 'auth'],
  [/overloaded|rate limit|too many requests|temporarily unavailable/i, 'overload'],
  [
    /connection (?:error|reset|closed|lost)|stream (?:disconnected|closed)|socket hang up|fetch failed/i,
    'overload',
  ],
  [/\bECONN\w+|\bETIMEDOUT\b|premature close|^terminated$/i, 'overload'],
];

/** Nobody listens at the address: that is no limit, and waiting does not mend it. */
const refused = /ECONNREFUSED|connection ?refused|unable to connect/i;

/** Returns the limit behind an error; undefined for other errors, such as a bad request. */
export function limitOf(error: ErrorFacts): Limit | undefined {
  const kind = kindOf(error);
  if (kind === undefined) return undefined;
  return {
    kind: kind === 'overload' && error.resetsAt !== undefined ? 'usage' : kind,
    ...(error.resetsAt === undefined ? {} : { resetsAt: error.resetsAt }),
    ...(error.message ? { message: error.message } : {}),
  };
}

/** An error in words, with the limit behind it if there is one. */
export type Failure = { readonly message: string; readonly limit?: Limit };

export function failureOf(message: string, error: ErrorFacts): Failure {
  const limit = limitOf(error);
  return limit === undefined ? { message } : { message, limit };
}

function kindOf({ status, type, message }: ErrorFacts): LimitKind | undefined {
  if (message !== undefined && refused.test(message)) return undefined;
  const byType = match(kindsByType, type);
  if (byType !== undefined && byType !== 'overload') return byType;
  // "Rate limit" and its statuses mean burst, plan or billing; the message says which.
  const byMessage = match(kindsByMessage, message);
  if (byMessage === 'quota' || byMessage === 'usage') return byMessage;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 413) return 'context';
  if (byMessage !== undefined && byMessage !== 'overload') return byMessage;
  if (status === 408 || status === 429 || (status !== undefined && status >= 500)) return 'overload';
  return byType ?? byMessage;
}

function match(
  kinds: readonly (readonly [RegExp, LimitKind])[],
  text: string | undefined,
): LimitKind | undefined {
  return text === undefined ? undefined : kinds.find(([pattern]) => pattern.test(text))?.[1];
}

/** Parses an error text such as `429 {"error":{"type":…,"message":…}}`, with or without words before it. */
export function readError(text: string): ErrorFacts {
  const status = /(?:^|error:?|status(?: code)?:?|code:?|\()\s*([45]\d\d)\b/i.exec(text)?.[1];
  const body = parseRecord(text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1)) ?? {};
  const error = { ...body, ...asRecord(body.error) };
  const types = [body.type, error.type, error.code, error.status];
  return {
    // Google calls the status `code` and the type `status`.
    status: status === undefined ? (num(error.status) ?? num(error.code)) : Number(status),
    type: types.filter((value) => str(value) && value !== 'error').join(' ') || undefined,
    message: str(error.message) ?? text,
    // Only OpenAI has it.
    resetsAt: secondsToMs(error.resets_at),
  };
}

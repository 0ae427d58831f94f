import type { LimitKind } from './turn.ts';

/** Each kind of limit: its mark, the code of its reason, and what has happened. */
export const limitWords = {
  usage: { mark: 'usage-limit', code: 'usage-limit', text: 'the usage limit is reached' },
  overload: { mark: 'overload', code: 'overloaded', text: 'the provider is overloaded' },
  context: { mark: 'context-full', code: 'context', text: 'the context of the agent is full' },
  auth: { mark: 'login', code: 'auth', text: 'the agent is not logged in' },
  quota: { mark: 'no-credit', code: 'quota', text: 'the account has no credit left' },
} as const satisfies Record<LimitKind, { mark: string; code: string; text: string }>;

/** Marks of turns that a provider's limit cut: one word for each kind, the same in every view. */
export type LimitMark = (typeof limitWords)[LimitKind]['mark'];

/** Returns the limit that a reason tells of; undefined if none. */
export function limitOfReason(code: string | null): (typeof limitWords)[LimitKind] | undefined {
  return Object.values(limitWords).find((limit) => limit.code === code);
}

/** Returns an outcome with the limit that caused it, such as `AGENT_FAILED: login`. */
export function outcomeWithCause(outcome: string, code: string | null): string {
  const mark = limitOfReason(code)?.mark;
  if (mark === undefined || (mark === 'usage-limit' && outcome === 'USAGE_LIMIT')) return outcome;
  return `${outcome}: ${mark.replace('-', ' ')}`;
}

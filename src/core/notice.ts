import type { Outcome } from './outcome.ts';
import { shorten } from './text.ts';

/** Kinds of notices about a loop that nobody watches. */
export const noticeKinds = ['done', 'blocked', 'decide', 'stuck', 'limit', 'failure'] as const;

export type NoticeKind = (typeof noticeKinds)[number];

/** Message for a person who is not watching. Every text is one line without control characters. */
export type Notice = {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly body: string;
  readonly run: string;
  /** Name of the working copy's directory, or of the worker. */
  readonly project: string;
  readonly outcome?: Outcome;
  readonly exitCode?: number;
  readonly iterations?: number;
  readonly costUsd?: number;
  /** The command to type next. */
  readonly next?: string;
  /** ISO time. */
  readonly at: string;
};

/** Facts for a notice; the texts may be anything that an agent wrote. */
export type NoticeFacts = Omit<Notice, 'title' | 'body'> & {
  readonly because: string;
  /** Replaces what the kind says of the project in the title. */
  readonly headline?: string;
};

const headlines: Record<NoticeKind, string> = {
  done: 'done',
  blocked: 'blocked, needs you',
  decide: 'asks you to decide',
  stuck: 'stuck',
  limit: 'reached a limit',
  failure: 'failed',
};

/** Returns the kind of notice for an outcome; null if a person ended the loop. */
export function noticeKindOf(outcome: Outcome): NoticeKind | null {
  return kinds[outcome];
}

const kinds: Record<Outcome, NoticeKind | null> = {
  PROMISE_ACCEPTED: 'done',
  MAX_ITERATIONS_REACHED: 'limit',
  AGENT_FAILED: 'failure',
  LOOP_FAILED: 'failure',
  BLOCKED: 'blocked',
  NEEDS_DECISION: 'decide',
  STUCK: 'stuck',
  BUDGET_SPENT: 'limit',
  USAGE_LIMIT: 'limit',
  CANCELLED: null,
  INTERRUPTED: null,
};

export function noticeOf({ because, headline, ...facts }: NoticeFacts): Notice {
  const project = plainLine(facts.project, 60);
  return {
    ...facts,
    project,
    title: `ralph: ${project} ${headline ?? headlines[facts.kind]}`,
    body: plainLine(because, 500),
  };
}

/** Puts a text on one line, without control characters, characters that reorder text, or half a character. */
export function plainLine(text: string, max: number): string {
  const line = text.slice(0, max * 4).replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ');
  return shorten(line.trim(), max);
}

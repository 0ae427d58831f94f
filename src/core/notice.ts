import type { Outcome } from './outcome.ts';
import { shorten } from './text.ts';

/** What a person may want to be told about a loop that runs without them. */
export const noticeKinds = ['done', 'blocked', 'decide', 'stuck', 'limit', 'failure'] as const;

export type NoticeKind = (typeof noticeKinds)[number];

/** Word for a person who is not looking. All texts are plain: one line each, nothing that a terminal could act on. */
export type Notice = {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly body: string;
  readonly run: string;
  /** The name of the folder that the loop works in, or of the worker. */
  readonly project: string;
  readonly outcome?: Outcome;
  readonly exitCode?: number;
  readonly iterations?: number;
  readonly costUsd?: number;
  /** ISO time. */
  readonly at: string;
};

/** What a notice is made of: the texts may be anything that an agent wrote. */
export type NoticeFacts = Omit<Notice, 'title' | 'body'> & { readonly because: string };

const headlines: Record<NoticeKind, string> = {
  done: 'done',
  blocked: 'blocked, needs you',
  decide: 'asks you to decide',
  stuck: 'stuck',
  limit: 'reached a limit',
  failure: 'failed',
};

/** The notice that an outcome is worth; null where the person ended the loop themselves. */
export function noticeKindOf(outcome: Outcome): NoticeKind | null {
  switch (outcome) {
    case 'PROMISE_ACCEPTED':
      return 'done';
    case 'BLOCKED':
      return 'blocked';
    case 'NEEDS_DECISION':
      return 'decide';
    case 'STUCK':
      return 'stuck';
    case 'MAX_ITERATIONS_REACHED':
    case 'BUDGET_SPENT':
    case 'USAGE_LIMIT':
      return 'limit';
    case 'AGENT_FAILED':
    case 'LOOP_FAILED':
      return 'failure';
    case 'CANCELLED':
    case 'INTERRUPTED':
      return null;
  }
}

export function noticeOf({ because, ...facts }: NoticeFacts): Notice {
  const project = plainLine(facts.project, 60);
  return {
    ...facts,
    project,
    title: `ralph: ${project} ${headlines[facts.kind]}`,
    body: plainLine(because, 500),
  };
}

/** One line without controls, characters that reorder text, or half a character. */
export function plainLine(text: string, max: number): string {
  const line = text.slice(0, max * 4).replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ');
  return shorten(line.trim(), max);
}

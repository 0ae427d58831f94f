import type { HookHost } from '../../agents/host.ts';
import type { Reply } from '../session/hook-reply.ts';

type Json = Readonly<Record<string, unknown>>;

const bracketsNote =
  'In this message, angle brackets may come as XML entities (lt, gt): read and write them as angle brackets.';

/** Prints a reply as the host reads it: one JSON document, or nothing. */
export function hookOutput(host: HookHost, event: string, reply: Reply): string {
  const body = bodyOf(host, event, reply);
  return body === null ? '' : `${JSON.stringify(body)}\n`;
}

function bodyOf(host: HookHost, event: string, reply: Reply): Json | null {
  const { refusal: decision, escapes } = host;
  const note = escapes === reply.kind ? `${bracketsNote}\n\n` : '';
  switch (reply.kind) {
    case 'silent':
      return null;
    case 'continue': {
      const message = `${note}${reply.message}`;
      const notice = reply.notice ?? (host.showsNoticeOnly && iterationNotice(message));
      if (message.length <= (host.contextAtStop ?? 0)) return contextBody(event, message, notice);
      return { decision, reason: message, ...systemMessage(notice) };
    }
    case 'context':
      return contextBody(event, `${note}${reply.message}`, reply.notice);
    case 'notice':
      return systemMessage(reply.notice);
    case 'answer':
      return { decision, reason: reply.message };
  }
}

function contextBody(event: string, message: string, notice: string | undefined): Json {
  return {
    hookSpecificOutput: { hookEventName: event, additionalContext: message },
    ...systemMessage(notice),
  };
}

/** Returns the iteration that a message to the agent names. */
function iterationNotice(message: string): string {
  return /\[(Ralph loop: [^\]]+)\]/.exec(message)?.[1] ?? 'Ralph loop';
}

function systemMessage(text: string | undefined): Json {
  return text === undefined ? {} : { systemMessage: text };
}

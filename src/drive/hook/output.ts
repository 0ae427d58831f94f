import type { Reply } from '../session/hook-reply.ts';

/** For hosts that write the angle brackets of our words so before their model reads them. */
export const bracketsNote =
  'In this message, angle brackets may come as XML entities (lt, gt): read and write them as angle brackets.';

/** Prints a reply as hosts read it; they differ in the word that turns a stop or a prompt down. */
export function hookOutput(event: string, reply: Reply, decision: 'block' | 'deny' = 'block'): string {
  const body = bodyOf(event, reply, decision);
  return body === null ? '' : `${JSON.stringify(body)}\n`;
}

function bodyOf(event: string, reply: Reply, decision: string): Record<string, unknown> | null {
  switch (reply.kind) {
    case 'silent':
      return null;
    case 'continue':
      return { decision, reason: reply.message, ...systemMessage(reply.notice) };
    case 'context':
      return {
        hookSpecificOutput: { hookEventName: event, additionalContext: reply.message },
        ...systemMessage(reply.notice),
      };
    case 'notice':
      return systemMessage(reply.notice);
    case 'answer':
      return { decision, reason: reply.message };
  }
}

function systemMessage(text: string | undefined): Record<string, unknown> {
  return text === undefined ? {} : { systemMessage: text };
}

import { bracketsNote } from '../../hook/output.ts';
import type { Reply } from '../../reply.ts';

/** A reply as Gemini CLI reads it. */
export function geminiOutput(event: string, reply: Reply): string {
  const body = bodyOf(event, reply);
  return body === null ? '' : `${JSON.stringify(body)}\n`;
}

function bodyOf(event: string, reply: Reply): Record<string, unknown> | null {
  switch (reply.kind) {
    case 'silent':
      return null;
    case 'continue':
      // Gemini CLI shows this to the user in place of the whole reason.
      return {
        decision: 'deny',
        reason: reply.message,
        systemMessage: reply.notice ?? shortOf(reply.message),
      };
    case 'context':
      return {
        hookSpecificOutput: {
          hookEventName: event,
          additionalContext: `${bracketsNote}\n\n${reply.message}`,
        },
        ...(reply.notice === undefined ? {} : { systemMessage: reply.notice }),
      };
    case 'notice':
      return { systemMessage: reply.notice };
    case 'answer':
      return { decision: 'deny', reason: reply.message };
  }
}

function shortOf(message: string): string {
  return /\[(Ralph loop: [^\]]+)\]/.exec(message)?.[1] ?? 'Ralph loop';
}

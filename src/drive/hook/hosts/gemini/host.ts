import { geminiTranscript } from '../../../../agents/gemini/transcript.ts';
import type { Reply } from '../../../session/hook-reply.ts';
import type { HookHost } from '../../host.ts';
import { bracketsNote, hookOutput } from '../../output.ts';

export const gemini: HookHost = {
  name: 'gemini',
  transcript: geminiTranscript,
  // Without a screen, Gemini CLI puts what hooks said at the start of the session before the user's words.
  promptOf: (prompt) => prompt.replace(/^(?:\s*<hook_context>[^<]*<\/hook_context>)+/, ''),
  print: (event, reply) => hookOutput(event, geminiReply(reply), 'deny'),
};

/** Adapts a reply to Gemini CLI. */
function geminiReply(reply: Reply): Reply {
  if (reply.kind === 'context') return { ...reply, message: `${bracketsNote}\n\n${reply.message}` };
  if (reply.kind !== 'continue') return reply;
  // Gemini CLI shows the notice to the user in place of the whole reason.
  const iteration = /\[(Ralph loop: [^\]]+)\]/.exec(reply.message)?.[1];
  return { ...reply, notice: reply.notice ?? iteration ?? 'Ralph loop' };
}

import type { HookHost } from '../host.ts';
import { geminiTranscript } from './transcript.ts';

export const host: HookHost = {
  name: 'gemini',
  transcript: geminiTranscript,
  refusal: 'deny',
  // Without a screen, Gemini CLI puts what hooks said at the start of the session before the user's words.
  promptOf: (prompt) => prompt.replace(/^(?:\s*<hook_context>[^<]*<\/hook_context>)+/, ''),
  escapes: 'context',
  needsEscape: true,
  showsNoticeOnly: true,
};

import type { HookHost } from '../../hook/host.ts';
import { geminiOutput } from './output.ts';
import { geminiTranscript } from './transcript.ts';

export const gemini: HookHost = {
  name: 'gemini',
  transcript: geminiTranscript,
  // Without a screen, Gemini CLI puts what hooks said at the start of the session before the user's words.
  promptOf: (prompt) => prompt.replace(/^(?:\s*<hook_context>[^<]*<\/hook_context>)+/, ''),
  print: geminiOutput,
};

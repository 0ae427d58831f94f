import type { HookHost } from '../host.ts';
import { codexTranscript } from './transcript.ts';

export const host: HookHost = {
  name: 'codex',
  transcript: codexTranscript,
  refusal: 'block',
  // The message of a stop hook reaches the model as the text of an XML tag.
  escapes: 'continue',
};

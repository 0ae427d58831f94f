import type { HookHost } from '../../hook/host.ts';
import { bracketsNote, hookOutput } from '../../hook/output.ts';
import { codexTranscript } from './transcript.ts';

export const codex: HookHost = {
  name: 'codex',
  transcript: codexTranscript,
  // What a stop hook says comes to the model of Codex as the text of an XML tag.
  print: (event, reply) =>
    hookOutput(
      event,
      reply.kind === 'continue' ? { ...reply, message: `${bracketsNote}\n\n${reply.message}` } : reply,
    ),
};

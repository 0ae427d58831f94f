import { codexTranscript } from '../../../../agents/codex/transcript.ts';
import type { HookHost } from '../../host.ts';
import { bracketsNote, hookOutput } from '../../output.ts';

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

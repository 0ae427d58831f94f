import type { HookHost } from '../../hook/host.ts';
import { hookOutput } from '../../hook/output.ts';
import { codexTranscript } from './transcript.ts';

export const codex: HookHost = { name: 'codex', transcript: codexTranscript, print: hookOutput };

import type { HookHost } from '../../hook/host.ts';
import { hookOutput } from '../../hook/output.ts';
import { claudeTranscript } from './transcript.ts';

export const claudeCode: HookHost = { name: 'claude-code', transcript: claudeTranscript, print: hookOutput };

import { claudeTranscript } from '../../../../agents/claude/transcript.ts';
import type { HookHost } from '../../host.ts';
import { hookOutput } from '../../output.ts';

export const claudeCode: HookHost = { name: 'claude-code', transcript: claudeTranscript, print: hookOutput };

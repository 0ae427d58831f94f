import type { HookHost } from '../host.ts';
import { claudeTranscript } from './transcript.ts';

export const host: HookHost = { name: 'claude-code', transcript: claudeTranscript, refusal: 'block' };

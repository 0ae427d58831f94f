import type { HookHost } from '../../hook/host.ts';
import { hookOutput } from '../../hook/output.ts';
import { readTurn } from './transcript.ts';

export const claudeCode: HookHost = { name: 'claude-code', readTurn, print: hookOutput };

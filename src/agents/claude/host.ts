import type { HookHost } from '../host.ts';
import { atLeast } from '../version.ts';
import { claudeTranscript } from './transcript.ts';

export const host: HookHost = { name: 'claude-code', transcript: claudeTranscript, refusal: 'block' };

/**
 * Returns the host that `AI_AGENT` names (claude-code_2-1-325_harness). The model of a refused stop gets our message twice,
 * once behind the command line of the hook. Context at a stop, since 2.1.163, reaches it once; above 10,000 characters as a
 * file.
 */
export function hostOf({ AI_AGENT: program = '' }: Readonly<Record<string, string | undefined>>): HookHost {
  const version = /^claude-code_(\d+-\d+-\d+)/.exec(program)?.[1]?.replaceAll('-', '.');
  if (version === undefined || !atLeast(version, '2.1.163')) return host;
  return { ...host, contextAtStop: 10_000 };
}

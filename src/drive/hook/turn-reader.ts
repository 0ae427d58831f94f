import type { HookHost } from '../../agents/host.ts';
import { type ReadTurn, readTranscript } from '../session/transcript.ts';
import type { HookInput } from './input.ts';

/** Returns how to read the turn that a hook was called in. */
export function turnReader(
  { transcript }: HookHost,
  { transcriptPath: path, lastMessage }: Pick<HookInput, 'transcriptPath' | 'lastMessage'>,
): ReadTurn {
  return (from, wantedCalls) => readTranscript(transcript, { path, from, lastMessage, wantedCalls });
}

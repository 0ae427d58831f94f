import type { HookHost } from '../../agents/host.ts';
import { asRecord, list, parseRecord, str } from '../../agents/json.ts';
import { type ReadTurn, readTranscript } from '../session/transcript.ts';

export type HookInput = Readonly<ReturnType<typeof parseHookInput>>;

export type SessionInput = HookInput & { readonly sessionId: string };

export function hasSession(input: HookInput): input is SessionInput {
  return input.sessionId !== null;
}

/**
 * Parses the input of a hook; all hosts use the form of Claude Code. Damaged input counts as input without a session, for
 * which there is nothing to do.
 */
export function parseHookInput(json: string) {
  const input = parseRecord(json) ?? {};
  /** Null if the field is missing, empty or of another type. */
  const text = (name: string) => str(input[name]) || null;
  return {
    // Only the context monitor, which runs after tool calls, is ever called without it.
    event: text('hook_event_name') ?? 'PostToolUse',
    sessionId: text('session_id'),
    transcriptPath: text('transcript_path'),
    cwd: text('cwd') ?? process.cwd(),
    promptId: text('prompt_id') ?? text('turn_id'),
    planMode: input.permission_mode === 'plan',
    subagent: text('agent_id') !== null,
    lastMessage: text('last_assistant_message'),
    backgroundTasks: list(input.background_tasks).flatMap((task) => {
      const { status, id, command } = asRecord(task);
      return status === 'running' ? [String(id ?? command)] : [];
    }),
    prompt: text('prompt') ?? '',
    commandName: text('command_name'),
    commandArgs: text('command_args') ?? '',
    /** Reason why a session starts. */
    source: text('source'),
  };
}

/** Returns how to read the turn that a hook was called in. */
export function turnReader(
  { transcript }: HookHost,
  { transcriptPath: path, lastMessage }: Pick<HookInput, 'transcriptPath' | 'lastMessage'>,
): ReadTurn {
  return (from) => readTranscript(transcript, { path, from, lastMessage });
}

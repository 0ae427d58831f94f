import * as v from 'valibot';
import type { HookHost } from '../../agents/host.ts';
import { parseRecord } from '../../agents/json.ts';
import { type ReadTurn, readTranscript } from '../session/transcript.ts';

/** Text; null if the field is missing, empty or of another type. */
const text = v.fallback(v.nullable(v.pipe(v.string(), v.nonEmpty())), null);

/** The id of a background task that still runs; null for any other. */
const runningTask = v.fallback(
  v.nullable(
    v.pipe(
      v.object({
        status: v.literal('running'),
        id: v.optional(v.unknown()),
        command: v.optional(v.unknown()),
      }),
      v.transform(({ id, command }) => String(id ?? command)),
    ),
  ),
  null,
);

/** Fields that hosts send to a hook. All of them use the form of Claude Code. */
const hookInput = v.pipe(
  v.object({
    hook_event_name: text,
    session_id: text,
    transcript_path: text,
    cwd: text,
    prompt_id: text,
    turn_id: text,
    permission_mode: text,
    agent_id: text,
    last_assistant_message: text,
    background_tasks: v.fallback(v.array(runningTask), []),
    prompt: text,
    command_name: text,
    command_args: text,
    source: text,
  }),
  v.transform((input) => ({
    // Only the context monitor, which runs after tool calls, is ever called without it.
    event: input.hook_event_name ?? 'PostToolUse',
    sessionId: input.session_id,
    transcriptPath: input.transcript_path,
    cwd: input.cwd ?? process.cwd(),
    promptId: input.prompt_id ?? input.turn_id,
    planMode: input.permission_mode === 'plan',
    subagent: input.agent_id !== null,
    lastMessage: input.last_assistant_message,
    /** Ids of running tasks. */
    backgroundTasks: input.background_tasks.filter((id) => id !== null),
    prompt: input.prompt ?? '',
    commandName: input.command_name,
    commandArgs: input.command_args ?? '',
    /** Reason why a session starts. */
    source: input.source,
  })),
);

export type HookInput = Readonly<v.InferOutput<typeof hookInput>>;

export type SessionInput = HookInput & { readonly sessionId: string };

export function hasSession(input: HookInput): input is SessionInput {
  return input.sessionId !== null;
}

/** Parses the input of a hook. Damaged input counts as input without a session, for which there is nothing to do. */
export function parseHookInput(json: string): HookInput {
  return v.parse(hookInput, parseRecord(json) ?? {});
}

/** Returns how to read the turn that a hook was called in. */
export function turnReader(
  { transcript }: HookHost,
  { transcriptPath: path, lastMessage }: Pick<HookInput, 'transcriptPath' | 'lastMessage'>,
): ReadTurn {
  return (from) => readTranscript(transcript, { path, from, lastMessage });
}

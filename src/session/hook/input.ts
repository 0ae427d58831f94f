import { isObject } from '../../core/json.ts';

/** What a host sends to a hook, as far as it matters here. They all took over the form of Claude Code. */
export type HookInput = {
  readonly event: string;
  readonly sessionId: string;
  readonly transcriptPath: string | null;
  readonly cwd: string;
  readonly promptId: string | null;
  readonly planMode: boolean;
  readonly subagent: boolean;
  readonly lastMessage: string | null;
  /** The ids of those that still run. */
  readonly backgroundTasks: readonly string[];
  readonly prompt: string;
  readonly commandName: string | null;
  readonly commandArgs: string;
  /** Why a session starts. */
  readonly source: string;
};

/**
 * Reads a hook's input; null where it is not one, and then nothing is to be done. A session without an id has at least
 * its transcript, where that is `enough`.
 */
export function readHookInput(text: string, enough?: 'transcript'): HookInput | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const string = (name: string): string | null => {
    const found = value[name];
    return typeof found === 'string' && found !== '' ? found : null;
  };
  const sessionId = string('session_id') ?? (enough ? string('transcript_path') : null);
  if (sessionId === null) return null;
  return {
    event: string('hook_event_name') ?? '',
    sessionId,
    transcriptPath: string('transcript_path'),
    cwd: string('cwd') ?? process.cwd(),
    promptId: string('prompt_id') ?? string('turn_id'),
    planMode: value.permission_mode === 'plan',
    subagent: string('agent_id') !== null,
    lastMessage: string('last_assistant_message'),
    backgroundTasks: runningTasks(value.background_tasks),
    prompt: string('prompt') ?? '',
    commandName: string('command_name'),
    commandArgs: string('command_args') ?? '',
    source: string('source') ?? '',
  };
}

function runningTasks(tasks: unknown): string[] {
  if (!Array.isArray(tasks)) return [];
  const running = tasks.filter((task) => isObject(task) && task.status === 'running');
  return running.map(({ id, command }) => String(id ?? command));
}

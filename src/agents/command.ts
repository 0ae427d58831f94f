import type {
  AgentAdapter,
  AgentCommand,
  AgentGuard,
  AgentTask,
  OutputMode,
  Permissions,
} from './adapter.ts';

/** Arguments of ours, which give way if the user's flags have one of `names`: several CLIs refuse an option twice. */
type Choice<Key extends string> = Readonly<Record<Key, readonly string[]>> & {
  readonly names?: readonly string[];
};

/** Command line of a CLI that takes the prompt on standard input, and the user's flags last. */
type CommandForm = {
  readonly output: Choice<OutputMode>;
  readonly permissions: Choice<Permissions>;
  /** Option that takes the system prompt. */
  readonly systemPrompt?: string;
  /** Returns the arguments that continue a session. */
  resume(session: string): readonly string[];
  env?(task: AgentTask): AgentCommand['env'];
};

/** Makes the `command` of an adapter from the form of its command line. */
export function commandBy(form: CommandForm): AgentAdapter['command'] {
  return (task, _version, mode) => {
    const { prompt, systemPrompt, permissions, flags, resumeSession } = task;
    return {
      args: [
        ...unlessGiven(flags, form.output.names ?? [], form.output[mode]),
        ...unlessGiven(flags, form.permissions.names ?? [], form.permissions[permissions]),
        ...(form.systemPrompt && systemPrompt ? [form.systemPrompt, systemPrompt] : []),
        ...(resumeSession ? form.resume(resumeSession) : []),
        ...flags,
      ],
      stdin: prompt,
      env: form.env?.(task) ?? {},
    };
  };
}

/** Returns our arguments, unless the user's flags include one of `names`. */
export function unlessGiven(
  flags: readonly string[],
  names: readonly string[],
  ours: readonly string[],
): readonly string[] {
  const isGiven = flags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
  return isGiven ? [] : ours;
}

/** Returns the arguments of the guard, then the user's flags. */
export function withGuard(guard: AgentGuard, flags: readonly string[]): string[] {
  return [...guard.args, ...(guard.flags ?? flags)];
}

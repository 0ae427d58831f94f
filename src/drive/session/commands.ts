/** The commands of a loop, which every host has under the same names. */
export const loopCommands = [
  'ralph-loop',
  'ulw-loop',
  'cancel-ralph',
  'ralph-status',
  'ralph-pause',
  'ralph-resume',
] as const;

export type CommandName = (typeof loopCommands)[number];
export type StartName = 'ralph-loop' | 'ulw-loop';
export type ControlName = Exclude<CommandName, StartName>;

export type Command = { readonly name: CommandName; readonly args: string };

/** Returns the command that a prompt starts with; ignores the prefix of a plugin. */
export function commandIn(prompt: string): Command | null {
  const [, word, args] = /^\s*\/(?:[\w.-]+:)?([\w-]+)(?:\s([\s\S]*))?$/.exec(prompt) ?? [];
  return commandOf(word, args);
}

export function commandOf(word: string | undefined, args = ''): Command | null {
  const name = loopCommands.find((each) => each === word);
  return name === undefined ? null : { name, args };
}

/** True for a prompt that says nothing but stop. */
export function isPlainStop(prompt: string): boolean {
  return /^\s*(?:please[, ]+)?stop(?: (?:it|now|here|please|the loop|working))*[\s.!]*$/i.test(prompt);
}

export function isStart(name: CommandName): name is StartName {
  return name === 'ralph-loop' || name === 'ulw-loop';
}

const startNames = ['ralph-loop', 'ralph', 'ulw-loop'] as const;
const controlNames = ['cancel-ralph', 'ralph-status', 'ralph-pause', 'ralph-resume'] as const;

/** The commands of a loop, which every host has under the same names. */
export const loopCommands = [...startNames, ...controlNames] as const;

export type StartName = (typeof startNames)[number];
export type ControlName = (typeof controlNames)[number];
export type CommandName = StartName | ControlName;

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
  return startNames.some((each) => each === name);
}

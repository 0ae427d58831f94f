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

export function isStart(name: CommandName): name is StartName {
  return name === 'ralph-loop' || name === 'ulw-loop';
}

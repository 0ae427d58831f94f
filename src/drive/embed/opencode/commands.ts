import type { CommandPart, PluginConfig } from './types.ts';

// OpenCode appends the arguments to a template without a placeholder and then runs each !`command` in it. A placeholder
// beyond all words keeps the arguments out; the plugin takes them from the event, raw.
const noArguments = '$999999999';

const commands = [
  {
    name: 'ralph-loop',
    description: 'Keep this session working until the task is really done: "task" [--max-iterations N] …',
  },
  { name: 'ulw-loop', description: 'The same loop as /ralph-loop, in ultrawork mode' },
  { name: 'cancel-ralph', description: 'End the Ralph loop of this session' },
  { name: 'ralph-status', description: 'Say how the Ralph loop of this session is doing' },
  { name: 'ralph-pause', description: 'Let the Ralph loop of this session rest' },
  { name: 'ralph-resume', description: 'Go on with the Ralph loop of this session' },
] as const;

export type CommandName = (typeof commands)[number]['name'];

export function isStart(name: CommandName): name is 'ralph-loop' | 'ulw-loop' {
  return name === 'ralph-loop' || name === 'ulw-loop';
}

/** Adds the commands that the project has not defined itself, and returns their names. */
export function addCommands(config: PluginConfig): CommandName[] {
  const ownCommands = config.command ?? {};
  const newCommands = commands.filter(({ name }) => !Object.hasOwn(ownCommands, name));
  const entries = newCommands.map(({ name, description }) => [
    name,
    { template: `/${name}${noArguments}`, description },
  ]);
  config.command = { ...ownCommands, ...Object.fromEntries(entries) };
  return newCommands.map(({ name }) => name);
}

/** Replaces the template of a command by a text for the model. */
export function say(parts: CommandPart[], text: string): void {
  const first = parts.find((part) => part.type === 'text');
  if (first) first.text = text;
  else parts.unshift({ type: 'text', text });
}

/** Asks the model to repeat a text: it has to answer a command that needs no work. */
export function answer(text: string): string {
  return `Answer with exactly the following text. Do nothing else and use no tool.\n\n${text}`;
}

import { type CommandName, loopCommands } from '../../session/commands.ts';
import type { CommandPart, PluginConfig } from './types.ts';

// OpenCode appends the arguments to a template without a placeholder and then runs each !`command` in it. A placeholder
// beyond all words keeps the arguments out; the plugin takes them from the event, raw.
const noArguments = '$999999999';

const descriptions: Readonly<Record<CommandName, string>> = {
  'ralph-loop': 'Keep this session working until the task is really done: "task" [--max-iterations N] …',
  ralph: 'The same as /ralph-loop',
  'ulw-loop': 'The same loop as /ralph-loop, in ultrawork mode',
  'cancel-ralph': 'End the Ralph loop of this session',
  'ralph-status': 'Say how the Ralph loop of this session is doing',
  'ralph-pause': 'Let the Ralph loop of this session rest',
  'ralph-resume': 'Go on with the Ralph loop of this session',
};

/** Adds the commands that the project has not defined itself, and returns their names. */
export function addCommands(config: PluginConfig): CommandName[] {
  const ownCommands = config.command ?? {};
  const newCommands = loopCommands.filter((name) => !Object.hasOwn(ownCommands, name));
  const entries = newCommands.map((name) => [
    name,
    { template: `/${name}${noArguments}`, description: descriptions[name] },
  ]);
  config.command = { ...ownCommands, ...Object.fromEntries(entries) };
  return newCommands;
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

import { completionContract } from '../../../core/prompt.ts';
import type { RalphLoopState } from '../../../store/embedded-loop.ts';
import type { LoopOptions } from '../../command-line.ts';
import type { StartLoopOptions } from '../../embed/types.ts';
import { ultrawork } from '../../messages.ts';
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
] as const;

export type CommandName = (typeof commands)[number]['name'];

/** Adds the commands that the project has not defined itself, and returns their names. */
export function addCommands(config: PluginConfig): CommandName[] {
  const known = config.command ?? {};
  const added = commands.filter(({ name }) => !Object.hasOwn(known, name));
  const entries = added.map(({ name, description }) => [
    name,
    { template: `/${name}${noArguments}`, description },
  ]);
  config.command = { ...known, ...Object.fromEntries(entries) };
  return added.map(({ name }) => name);
}

/** What the command says to the model, in place of its template. */
export function say(parts: CommandPart[], text: string): void {
  const first = parts.find((part) => part.type === 'text');
  if (first) first.text = text;
  else parts.unshift({ type: 'text', text });
}

/** What the user wanted of the loop; a text where the plugin cannot do it. */
export function startOptions(name: CommandName, options: LoopOptions): StartLoopOptions | string {
  if (options.verify.length > 0) return '--verify is not for OpenCode; `ralph run --agent opencode` has it.';
  if (options.maxTimeMs !== null)
    return '--max-time is not for OpenCode; `ralph run --agent opencode` has it.';
  return {
    maxIterations: options.maxIterations,
    completionPromise: options.completionPromise,
    match: options.promiseMatch,
    minToolCalls: options.onPromiseNoWork === 'reject' ? options.minToolCalls : 0,
    ...(name === 'ulw-loop' ? { instruction: ultrawork } : {}),
  };
}

/** The first prompt: the task and how to finish it. */
export function startPrompt(task: string, promise: string, instruction?: string): string {
  const contract = completionContract({ promise: { token: promise, match: 'claim' } });
  return [instruction, task, contract].filter((text) => typeof text === 'string').join('\n\n');
}

/** For the summary that replaces the conversation, so that the task is still known word for word. */
export function reminder(state: RalphLoopState): string {
  return `A Ralph loop is going on in this session (iteration ${state.iteration} of ${state.maxIterations}). Keep its task and its way to finish word for word:\n\n${startPrompt(state.prompt, state.completionPromise, state.instruction)}`;
}

/** For what needs no work: the model has to answer a command, and this is all it should say. */
export function answer(text: string): string {
  return `Answer with exactly the following text. Do nothing else and use no tool.\n\n${text}`;
}

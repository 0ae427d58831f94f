import { projectFolder } from '../../config/project-folder.ts';
import { guardCommands } from '../guard/commands.ts';
import { command, type Program } from '../kernel/spec.ts';
import { start } from '../kernel/start.ts';
import { prdCommands } from '../prd/commands.ts';
import { loopCommands } from './loop-commands.ts';
import { noOptions } from './options.ts';
import { setupCommands } from './setup-commands.ts';
import { viewCommands } from './view-commands.ts';

const completion = command({
  summary: 'Print the completion script of a shell.',
  args: [
    { name: 'SHELL', help: 'bash, zsh or fish', required: true },
    {
      name: 'WORD',
      help: 'for the script: the words typed so far, the last of them to be completed',
      many: true,
    },
  ],
  options: noOptions,
  examples: [
    ['eval "$(ralph completion bash)"', 'in ~/.bashrc; the same with zsh in ~/.zshrc'],
    ['ralph completion fish > ~/.config/fish/completions/ralph.fish', 'once'],
  ],
  load: async () => (await import('../kernel/completion.ts')).completionOf(ralph),
});

export const ralph: Program = {
  name: 'ralph',
  summary: 'keeps a coding agent working until its task is really done',
  defaultCommand: 'run',
  projectFolder: ({ cwd, env }) => projectFolder(cwd, env),
  commands: {
    ...loopCommands,
    ...viewCommands,
    ...prdCommands,
    ...setupCommands,
    ...guardCommands,
    completion,
  },
  groups: {
    sandbox: 'Where the agent runs, apart from the rest of the machine.',
    guard: 'Ask the guard what a shell command would do, and whether it may.',
    notify: 'Notifications: try them out.',
    prd: 'A PRD worked off story by story, with a review that cannot be bypassed.',
  },
  topics: {
    'exit-codes': topic('what each exit code means', (all) => all.exitCodes()),
    promise: topic('when is it done: claims and how they are judged', (all) => all.promise),
    guardrails: topic('commands that have to pass', (all) => all.guardrails),
    environment: topic('variables that matter', (all) => all.environment),
    settings: topic('every setting, its default and its environment variable', (all) => all.settingsTopic()),
  },
};

function topic(summary: string, pick: (all: typeof import('./topics.ts')) => string) {
  return { summary, text: async () => pick(await import('./topics.ts')) };
}

export function startRalph(words: readonly string[]): Promise<void> {
  return start(ralph, words);
}

import { configOptions, demoOptions, initOptions, runOptions, showOptions } from './options.ts';
import { command, type Program } from './spec.ts';

const run = command({
  summary: 'Run the agent loop.',
  options: runOptions,
  examples: [
    ['ralph run -p "Fix the failing tests"', 'until the agent is done, 10 iterations at most'],
    ['ralph run -f PROMPT.md -m 30', 'the task from a file that you may edit meanwhile'],
    ['ralph run -p "Port to ESM" --completion-promise PORTED', 'done is <promise>PORTED</promise>'],
  ],
  details: 'The agent and the guardrails come from .ralph/settings.json (ralph init writes one).',
  load: () => import('./run.ts'),
});

const show = command({
  summary: 'Show a run: how it ended, and every verdict with its evidence.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: showOptions,
  examples: [
    ['ralph show', 'the latest run here'],
    ['ralph show latest --json', 'the same for scripts'],
  ],
  load: () => import('./show.ts'),
});

const demo = command({
  summary: 'Watch a whole loop with a built-in agent: no key, no network, a few seconds.',
  options: demoOptions,
  examples: [['ralph demo', 'a false "done" rejected, a failing guardrail fed back, real work accepted']],
  load: () => import('./demo.ts'),
});

const init = command({
  summary: 'Write .ralph/settings.json by asking a few questions.',
  options: initOptions,
  examples: [
    ['ralph init', 'answer a few questions'],
    ['ralph init --yes', 'take what is found in this folder'],
  ],
  load: () => import('./init.ts'),
});

const config = command({
  summary: 'Print the settings in force.',
  options: configOptions,
  examples: [['ralph config --explain', 'every value and the file, variable or default it comes from']],
  load: () => import('./config.ts'),
});

export const ralph: Program = {
  name: 'ralph',
  summary: 'keeps a coding agent working until its task is really done',
  defaultCommand: 'run',
  commands: { run, init, show, config, demo },
  topics: {
    'exit-codes': {
      summary: 'what each exit code means',
      text: async () => (await import('./topics.ts')).exitCodes(),
    },
    settings: {
      summary: 'every setting, its default and its environment variable',
      text: async () => (await import('./settings-topic.ts')).settingsTopic(),
    },
  },
};

import { command, type Program } from './spec.ts';

const json = { type: 'boolean', help: 'print JSON and nothing else' } as const;

export const run = command({
  summary: 'Run the agent loop.',
  options: {
    prompt: { type: 'string', short: 'p', value: 'TEXT', help: 'the task' },
    'prompt-file': {
      type: 'string',
      short: 'f',
      value: 'FILE',
      help: 'a file with the task, read again at each iteration',
    },
    'maximum-iterations': {
      type: 'count',
      short: 'm',
      aliases: ['max-iterations'],
      help: 'stop after N iterations (10)',
    },
    'completion-response': { type: 'string', short: 'c', help: 'done is <response>TEXT</response> (DONE)' },
    'completion-promise': { type: 'string', help: 'done is <promise>TEXT</promise> instead' },
    'promise-match': {
      type: 'string',
      choices: ['claim', 'substring', 'lenient'],
      help: 'how strictly the promise is read (claim)',
    },
    'done-pattern': { type: 'string', value: 'REGEX', help: "a pattern in the agent's text that means done" },
    'min-tool-calls': { type: 'number', help: 'tool calls that a claim needs (1)' },
    'stream-agent-output': {
      type: 'boolean',
      negatable: true,
      help: 'show what the agent does as it happens (on)',
    },
    verbose: { type: 'boolean', short: 'V', help: 'say more, on lines that start with [ralph]' },
    json: { type: 'boolean', help: 'print the journal events on stdout and nothing else' },
  },
  examples: [
    ['ralph run -p "Fix the failing tests"', 'until the agent is done, 10 iterations at most'],
    ['ralph run -f PROMPT.md -m 30', 'the task from a file that you may edit meanwhile'],
    ['ralph run -p "Port to ESM" --completion-promise PORTED', 'done is <promise>PORTED</promise>'],
  ],
  details: 'The agent and the guardrails come from .ralph/settings.json (ralph init writes one).',
  load: () => import('./run.ts'),
});

export const show = command({
  summary: 'Show a run: how it ended, and every verdict with its evidence.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the latest run if left out' }],
  options: { json },
  examples: [
    ['ralph show', 'the latest run here'],
    ['ralph show latest --json', 'the same for scripts'],
  ],
  load: () => import('./show.ts'),
});

export const demo = command({
  summary: 'Watch a whole loop with a built-in agent: no key, no network, a few seconds.',
  options: { keep: { type: 'boolean', help: 'leave the demo repository behind and say where it is' } },
  examples: [['ralph demo', 'a false "done" rejected, a failing guardrail fed back, real work accepted']],
  load: () => import('./demo.ts'),
});

export const init = command({
  summary: 'Write .ralph/settings.json by asking a few questions.',
  options: { yes: { type: 'boolean', short: 'y', help: 'ask nothing: detect the agent and the checks' } },
  examples: [
    ['ralph init', 'answer a few questions'],
    ['ralph init --yes', 'take what is found in this folder'],
  ],
  load: () => import('./init.ts'),
});

export const config = command({
  summary: 'Print the settings in force.',
  options: {
    explain: { type: 'boolean', help: 'say where each value comes from' },
    json,
  },
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
  },
};

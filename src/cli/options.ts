import type { Options } from './spec.ts';

const json = { type: 'boolean', help: 'print JSON and nothing else' } as const;

export const runOptions = {
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
  agent: { type: 'string', value: 'COMMAND', help: 'the agent to run, over agent.command of the settings' },
  verbose: { type: 'boolean', short: 'V', help: 'say more, on lines that start with [ralph]' },
  json: { type: 'boolean', help: 'print the journal events on stdout and nothing else' },
} as const satisfies Options;

export const showOptions = { json } as const satisfies Options;

export const demoOptions = {
  keep: { type: 'boolean', help: 'leave the demo repository behind and say where it is' },
} as const satisfies Options;

export const initOptions = {
  yes: { type: 'boolean', short: 'y', help: 'ask nothing: detect the agent and the checks' },
} as const satisfies Options;

export const configOptions = {
  explain: { type: 'boolean', help: 'say where each value comes from' },
  json,
} as const satisfies Options;

import type { Options } from '../kernel/spec.ts';

export const json = { type: 'boolean', help: 'print JSON and nothing else' } as const;

export const noOptions = {} as const satisfies Options;

export const jsonOptions = { json } as const satisfies Options;

export const showOptions = {
  json,
  diff: { type: 'optional', value: 'N', help: 'print what it changed, or iteration N did, as a patch' },
} as const satisfies Options;

export const restoreOptions = {
  yes: { type: 'boolean', short: 'y', help: 'do not ask' },
} as const satisfies Options;

export const runOptions = {
  prompt: { type: 'string', short: 'p', value: 'TEXT', help: 'the task' },
  'prompt-file': { type: 'string', short: 'f', value: 'FILE', help: 'the task in a file, read each time' },
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
  'stream-agent-output': { type: 'boolean', negatable: true, help: 'show what the agent does, live (on)' },
  agent: { type: 'string', value: 'COMMAND', help: 'the agent to run, over agent.command of the settings' },
  acp: {
    type: 'optional',
    value: 'COMMAND',
    help: 'talk to the agent by the Agent Client Protocol; or to COMMAND, such as "goose acp"',
  },
  verify: { type: 'strings', value: 'COMMAND', help: 'a command that a claim has to pass; may be repeated' },
  permissions: {
    type: 'string',
    choices: ['full', 'edit', 'read'],
    help: 'what the agent may do without asking',
  },
  sandbox: {
    type: 'optional',
    negatable: true,
    value: 'PROVIDER',
    choices: ['auto', 'sbx', 'docker-sandbox', 'bwrap', 'container', 'none'],
    help: 'keep the agent away from the rest of the machine (auto: sbx, bwrap or container)',
  },
  'allow-host': { type: 'strings', value: 'HOST', help: 'another host for the sandbox; may be repeated' },
  'idle-timeout': { type: 'duration', help: 'end an agent that is silent so long while no tool runs (30m)' },
  'iteration-timeout': { type: 'duration', help: 'end an agent that runs this long (2h)' },
  'guardrail-timeout': { type: 'duration', help: 'end a guardrail that runs this long (15m)' },
  'max-wait': { type: 'duration', help: "longest wait for the provider's limits in all (6h)" },
  'max-time': { type: 'duration', help: 'longest time for the whole loop' },
  'max-cost': { type: 'number', value: 'USD', help: 'most money for the whole loop' },
  'max-tokens': { type: 'count', help: 'most tokens for the whole loop' },
  'max-iteration-cost': { type: 'number', value: 'USD', help: 'most money for one iteration' },
  'max-iteration-tokens': { type: 'count', help: 'most tokens for one iteration' },
  'stuck-after': { type: 'number', help: 'stop after N iterations without progress (3; 0 is never)' },
  'one-iteration': { type: 'optional', value: 'N', help: 'stop after one iteration, which has the number N' },
  'run-id': { type: 'string', value: 'RUN', help: 'name of the new run, for a program that goes on with it' },
  resume: { type: 'optional', value: 'RUN', help: 'continue a run that was stopped or killed (the latest)' },
  trust: { type: 'boolean', help: 'use what came with this folder, this time without asking' },
  'dry-run': { type: 'optional', value: 'json', help: 'show what would be done, and do nothing' },
  raw: { type: 'boolean', help: "show the agent's output with its control sequences" },
  timestamps: { type: 'boolean', help: 'put the time before each line of the stream' },
  'status-line': { type: 'boolean', negatable: true, help: 'show figures below the output (on)' },
  color: { type: 'string', choices: ['auto', 'always', 'never'], help: 'colours (auto; see NO_COLOR)' },
  verbose: { type: 'boolean', short: 'V', help: 'say more, on lines that start with [ralph]' },
  json: { type: 'boolean', help: 'print the journal events on stdout and nothing else' },
} as const satisfies Options;

export const demoOptions = {
  sandbox: { type: 'boolean', help: 'run its agent in a sandbox of bubblewrap' },
  keep: { type: 'boolean', help: 'leave the demo repository behind and say where it is' },
} as const satisfies Options;

export const initOptions = {
  yes: { type: 'boolean', short: 'y', help: 'ask nothing: detect the agent and the checks' },
} as const satisfies Options;

export const configOptions = {
  explain: { type: 'boolean', help: 'say where each value comes from' },
  json,
} as const satisfies Options;

export const trustOptions = {
  show: { type: 'boolean', help: 'list the powers and whether they are trusted, and change nothing' },
  revoke: { type: 'boolean', help: 'forget that this folder was trusted' },
  json,
} as const satisfies Options;

export const doctorOptions = {
  agent: { type: 'string', value: 'NAME', help: 'check this agent instead of the one in the settings' },
  json,
} as const satisfies Options;

const sandboxProvider = {
  type: 'string',
  value: 'PROVIDER',
  choices: ['sbx', 'docker-sandbox', 'bwrap', 'container'],
  help: 'this one, over the settings (the first that works)',
} as const;

export const sandboxOptions = { provider: sandboxProvider } as const satisfies Options;

export const sandboxExecOptions = {
  provider: sandboxProvider,
  agent: { type: 'string', value: 'COMMAND', help: 'with the login and the hosts of this agent' },
  'allow-host': runOptions['allow-host'],
} as const satisfies Options;

export const stopOptions = {
  now: { type: 'boolean', help: 'end the agent at once; without it the iteration is finished first' },
} as const satisfies Options;

export const installOptions = {
  project: { type: 'boolean', help: 'in the settings of this folder (the default)' },
  user: { type: 'boolean', help: 'in your own settings, for all folders' },
  'dry-run': { type: 'boolean', help: 'show what would change, and write nothing' },
} as const satisfies Options;

export const watchOptions = {
  plain: { type: 'boolean', help: 'the story of the run as text, line by line, also in a terminal' },
} as const satisfies Options;

export const statsOptions = {
  all: { type: 'boolean', help: 'all runs of this folder together' },
  csv: { type: 'boolean', help: 'a line for each run, for a spreadsheet' },
  json,
} as const satisfies Options;

export const reportOptions = {
  all: { type: 'boolean', help: 'all runs of this folder in one report' },
  output: { type: 'string', short: 'o', value: 'FILE', help: 'the file (report-RUN.html); - is stdout' },
  md: { type: 'boolean', help: 'Markdown for a pull request, on standard output' },
} as const satisfies Options;

export const dashboardOptions = {
  port: { type: 'number', help: 'serve at this port of 127.0.0.1 (0, any that is free)' },
  open: { type: 'boolean', negatable: true, help: 'open it in the browser (on)' },
  control: { type: 'boolean', help: 'allow to pause, resume, stop, note and answer from the page' },
} as const satisfies Options;

export const guardOptions = {
  attended: { type: 'boolean', help: 'judge as if somebody was there to ask' },
} as const satisfies Options;

export const guardCheckOptions = {
  json,
  stdin: { type: 'boolean', help: 'read one JSON {"command"} per line, print one verdict per line' },
  ...guardOptions,
} as const satisfies Options;

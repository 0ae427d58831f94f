import { durationPattern, parseDuration } from '../core/duration.ts';
import type { FailAction } from '../core/loop.ts';
import { noticeKinds } from '../core/notice.ts';
import {
  convert,
  dictionary,
  type Fields,
  type Input,
  list,
  type Output,
  object,
  oneOf,
  optional,
  preset,
  required,
  type Shape,
  simple,
} from '../core/shape.ts';
import { splitWords } from '../core/words.ts';

const anyText = simple('text', { type: 'string' }, (value) => typeof value === 'string');
const text = simple(
  'text that is not empty',
  { type: 'string', pattern: '\\S' },
  (value): value is string => typeof value === 'string' && value.trim() !== '',
);
const texts = list('a list of texts', text);
const yesOrNo = simple('true or false', { type: 'boolean' }, (value) => typeof value === 'boolean');
const count = simple(
  'a whole number above 0',
  { type: 'integer', minimum: 1 },
  (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
);
const countOrNone = simple(
  'a whole number, 0 or more',
  { type: 'integer', minimum: 0 },
  (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
);
const amount = simple(
  'a number above 0',
  { type: 'number', exclusiveMinimum: 0 },
  (value): value is number => Number.isFinite(value) && Number(value) > 0,
);

const durationWords = 'a duration such as "90s", "15m" or "1h30m", or a number of seconds';
const durationText = simple(
  durationWords,
  {
    anyOf: [
      { type: 'string', pattern: durationPattern.source },
      { type: 'number', minimum: 0 },
    ],
  },
  (value) => typeof value === 'string' || typeof value === 'number',
);
const duration = convert(durationText, durationWords, (value) => parseDuration(value) ?? undefined);
/** A duration after which something is stopped; 0 is never, which is null. */
const timeout = convert(duration, durationWords, (ms) => (ms === 0 ? null : ms));

const flags = convert(texts, 'words whose quotes are closed', (values) => {
  const words = values.map(splitWords);
  return words.every((split) => split !== null) ? words.flat() : undefined;
});

const failActions = oneOf('APPEND', 'PREPEND', 'REPLACE');
const failAction: Shape<string, FailAction> = {
  schema: failActions.schema,
  read: (value, path, problems) =>
    failActions.read(typeof value === 'string' ? value.toUpperCase() : value, path, problems),
};

const webAddress = simple(
  'an address such as "https://example.com/hook"',
  { type: 'string', pattern: '^https?://[^\\s/]' },
  (value): value is string => typeof value === 'string' && /^https?:\/\/[^\s/]/.test(value),
);

const environment = dictionary('an object of texts whose names have no "="', /^[^=\0]+$/, anyText);

// From here on one line is one setting: its type, its default where it has one, and what it does.
const guardrail = object('an object with a command', {
  command: required(text, 'Shell command; a non-zero exit code is a failure.'),
  failAction: preset(failAction, 'APPEND', 'How a failure joins the next prompt.'),
  hint: optional(text, 'Told to the agent together with the failure.'),
  timeout: optional(timeout, 'Replaces guardrailTimeout for this command.'),
});

const groups = {
  agent: {
    command: optional(text, 'The agent CLI, by name or path.'),
    flags: preset(flags, [], 'More words for its command line, split as a shell would.'),
    args: optional(
      texts,
      'Describes an agent of your own: its words, {prompt} for the prompt (else on stdin).',
    ),
    output: optional(oneOf('text', 'claude-stream-json'), 'What an agent of your own prints.'),
    permissions: optional(oneOf('full', 'edit', 'read'), 'What the agent may do without asking.'),
    env: preset(environment, {}, 'Environment variables that only the agent gets.'),
  },
  scm: {
    command: preset(text, 'git', 'Program that runs the tasks.'),
    tasks: preset(texts, [], 'Its tasks, in order, when the guardrails pass: commit, push.'),
  },
  notify: {
    on: preset(list('a list of kinds', oneOf(...noticeKinds)), noticeKinds, 'What you are told about.'),
    bell: preset(yesOrNo, false, 'Ring the bell of the terminal.'),
    desktop: preset(yesOrNo, false, 'Show a desktop notification.'),
    webhook: optional(webAddress, 'Address that gets a JSON POST.'),
    secret: optional(text, 'Signs what the webhook gets (HMAC-SHA256); keep it out of the repository.'),
    command: optional(texts, 'A program and its words, run without a shell, with JSON on its stdin.'),
  },
} as const satisfies Record<string, Fields>;

const fields = {
  $schema: optional(anyText, 'Where an editor finds the JSON Schema of this file.'),
  maximumIterations: preset(count, 10, 'Iterations before the loop gives up.'),
  completionResponse: preset(text, 'DONE', 'Done is <response>this</response> in the text of the agent.'),
  completionPromise: optional(text, 'Done is <promise>this</promise> instead.'),
  promiseMatch: preset(
    oneOf('claim', 'substring', 'lenient'),
    'claim',
    'How a promise is found: where it is a claim, anywhere at all, or in any case and spacing.',
  ),
  donePattern: optional(text, 'A regular expression; text of the agent that matches it is a claim, too.'),
  minToolCalls: preset(countOrNone, 1, 'Tool calls without which a claim is not believed.'),
  agent: preset(object('an object', groups.agent), {}, 'The agent that does the work.'),
  guardrails: preset(list('a list of guardrails', guardrail), [], 'Commands to pass after each iteration.'),
  verify: preset(texts, [], 'Commands to pass before a claim is accepted.'),
  guard: preset(
    oneOf('auto', 'always', 'off'),
    'auto',
    'Judge tool calls before they happen: in unattended work without a sandbox, in every session, or never.',
  ),
  protectedPaths: preset(texts, [], 'Files whose change speaks against a claim, such as tests.'),
  scm: optional(object('an object', groups.scm), 'Source control, run when all guardrails pass.'),
  notify: preset(
    object('an object', groups.notify),
    {},
    'How you are told that a loop needs or did something.',
  ),
  sandbox: optional(
    oneOf('auto', 'sbx', 'docker-sandbox', 'bwrap', 'container', 'none'),
    'Where the agent runs; auto is the first of sbx, bwrap and container that works.',
  ),
  sandboxImage: optional(text, 'The image of the container: it has node, git and the agent.'),
  sandboxPaths: preset(texts, [], 'Paths that can be read in the sandbox besides; `path:rw` can be written.'),
  sandboxEnv: preset(texts, [], 'Names of environment variables that pass into the sandbox besides.'),
  sandboxChecks: preset(yesOrNo, true, 'Guardrails and verify commands run in the sandbox, too.'),
  allowHosts: preset(texts, [], 'Hosts that can be reached from the sandbox besides those of the agent.'),
  outputTruncateChars: preset(count, 5000, 'Characters of guardrail output that the agent is shown.'),
  streamAgentOutput: preset(yesOrNo, true, 'Show what the agent does while it works.'),
  includeIterationCountInPrompt: preset(yesOrNo, false, 'Tell the agent which iteration this is.'),
  idleTimeout: preset(timeout, '30m', 'Stop an agent that is silent for this long; 0 is never.'),
  iterationTimeout: preset(timeout, '2h', 'Stop an agent that runs for this long; 0 is never.'),
  guardrailTimeout: preset(timeout, '15m', 'Stop a guardrail that runs for this long; 0 is never.'),
  exitGrace: preset(duration, '5s', 'Time for the agent to exit after its last word.'),
  maxWait: preset(duration, '6h', "Longest wait for the provider's limits, all in all."),
  maxTime: optional(timeout, 'Longest time for the whole loop.'),
  maxCost: optional(amount, 'Most US dollars for the whole loop.'),
  maxTokens: optional(count, 'Most tokens for the whole loop.'),
  maxIterationCost: optional(amount, 'Most US dollars for one iteration.'),
  maxIterationTokens: optional(count, 'Most tokens for one iteration.'),
  stuckAfter: preset(countOrNone, 3, 'Iterations without progress before the loop stops; 0 is never.'),
  maxFailures: preset(count, 5, 'Failed iterations in a row before the loop stops.'),
} as const satisfies Fields;

export const settingsShape = object('an object', fields);

/** What may stand in a settings file. */
export type SettingsFile = Input<typeof settingsShape>;

/** Settings as the loop uses them: defaults filled in, durations in milliseconds, flags split into words. */
export type ResolvedSettings = Output<typeof settingsShape>;

/** The dotted name of a setting, such as `maxCost` or `agent.command`. */
export type SettingKey =
  | Exclude<keyof typeof fields, keyof typeof groups>
  | { [G in keyof typeof groups]: `${G}.${keyof (typeof groups)[G] & string}` }[keyof typeof groups];

/** What there is to know about a setting; `fallback` is its default as it would be written. */
export type SettingInfo = { readonly description: string; readonly fallback?: unknown };

/** Every setting, in the order of the schema. */
export const settingTable: ReadonlyMap<SettingKey, SettingInfo> = new Map(
  keysOf(fields).flatMap((name): [SettingKey, SettingInfo][] => {
    if (name === 'agent') return keysOf(groups.agent).map((key) => [`agent.${key}`, groups.agent[key]]);
    if (name === 'scm') return keysOf(groups.scm).map((key) => [`scm.${key}`, groups.scm[key]]);
    if (name === 'notify') return keysOf(groups.notify).map((key) => [`notify.${key}`, groups.notify[key]]);
    return [[name, fields[name]]];
  }),
);

/** The JSON Schema of a settings file, for editors. */
export function settingsJsonSchema(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of ralph',
    ...settingsShape.schema,
  };
}

function keysOf<T extends object>(value: T): (keyof T & string)[] {
  return Object.keys(value) as (keyof T & string)[];
}

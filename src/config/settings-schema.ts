import * as v from 'valibot';
import { durationPattern, parseDuration } from '../core/duration.ts';
import { isObject } from '../core/json.ts';
import { noticeKinds } from '../core/notice.ts';
import { strictObject } from '../core/strict-object.ts';
import { splitWords } from '../core/words.ts';

// The message of a schema is the expected value; settings-problem.ts makes a sentence of it.
const anyText = v.string('text');
const text = v.message(v.pipe(v.string(), v.regex(/\S/)), 'text that is not empty');
const texts = v.array(text, 'a list of texts');
const yesOrNo = v.boolean('true or false');
const count = v.message(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), 'a whole number above 0');
const countOrNone = v.message(
  v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  'a whole number, 0 or more',
);
const amount = v.message(v.pipe(v.number(), v.finite(), v.gtValue(0)), 'a number above 0');

const durationText = v.union([
  v.pipe(v.string(), v.regex(durationPattern)),
  v.pipe(v.number(), v.minValue(0)),
]);
const durationWords = 'a duration such as "90s", "15m" or "1h30m", or a number of seconds';
const duration = v.pipe(v.message(durationText, durationWords), convert(parseDuration, durationWords));
/** A duration after which something is stopped; 0 is never, which is null. */
const timeout = v.pipe(
  duration,
  v.transform((ms) => (ms === 0 ? null : ms)),
);

const flags = v.pipe(texts, convert(splitFlags, 'words whose quotes are closed'));

const failActions = oneOf('APPEND', 'PREPEND', 'REPLACE');
const failAction = v.pipe(v.string(failActions.message), v.toUpperCase(), failActions);

const webAddress = v.message(
  v.pipe(v.string(), v.regex(/^https?:\/\/[^\s/]/)),
  'an address such as "https://example.com/hook"',
);

const mailAddress = v.message(
  v.pipe(v.string(), v.regex(/^[^\s@,<>"'-][^\s@,<>"']*@[^\s@,<>"']+$/)),
  'a mail address such as "me@example.com"',
);

const variable = v.pipe(v.string(), v.regex(/^[^=\0]+$/, 'a name without "="'));
const environment = v.pipe(
  v.custom<Record<string, string>>(isObject, 'an object of texts'),
  v.record(variable, anyText),
);

// From here on one line is one setting: its type, its default where it has one, and what it does.
const guardrail = strictObject(
  {
    command: v.pipe(text, v.description('Shell command; a non-zero exit code is a failure.')),
    failAction: preset(failAction, 'APPEND', 'How a failure joins the next prompt.'),
    hint: optional(text, 'Told to the agent together with the failure.'),
    timeout: optional(timeout, 'Replaces guardrailTimeout for this command.'),
  },
  'an object with a command',
);

const groups = {
  agent: {
    command: optional(text, 'The agent CLI, by name or path.'),
    flags: preset(flags, [], 'More words for its command line, split as a shell would.'),
    args: optional(
      texts,
      'Describes an agent of your own: its words, {prompt} for the prompt (else on stdin).',
    ),
    output: optional(oneOf('text', 'claude-stream-json'), 'What an agent of your own prints.'),
    protocol: optional(
      v.picklist(['acp'], '"acp"'),
      'Talk to the agent by the Agent Client Protocol; args are the words that make it speak it.',
    ),
    permissions: optional(oneOf('full', 'edit', 'read'), 'What the agent may do without asking.'),
    env: preset(environment, {}, 'Environment variables that only the agent gets.'),
  },
  scm: {
    command: preset(text, 'git', 'Program that runs the tasks.'),
    tasks: preset(texts, [], 'Its tasks, in order, when the guardrails pass: commit, push.'),
  },
  notify: {
    on: preset(
      v.array(oneOf(...noticeKinds), 'a list of kinds'),
      [...noticeKinds],
      'What you are told about.',
    ),
    bell: preset(yesOrNo, false, 'Ring the bell of the terminal.'),
    desktop: preset(yesOrNo, false, 'Show a desktop notification.'),
    webhook: optional(webAddress, 'Address that gets a JSON POST.'),
    secret: optional(text, 'Signs what the webhook gets (HMAC-SHA256); keep it out of the repository.'),
    slack: optional(webAddress, 'Incoming webhook of Slack.'),
    discord: optional(webAddress, 'Webhook of a Discord channel.'),
    ntfy: optional(webAddress, 'Address of an ntfy topic, such as "https://ntfy.sh/my-topic".'),
    telegram: optional(
      webAddress,
      'Address of a Telegram bot: "https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID".',
    ),
    email: optional(mailAddress, 'Who gets an e-mail, by the sendmail program of this machine.'),
    command: optional(texts, 'A program and its words, run without a shell, with JSON on its stdin.'),
  },
} satisfies Record<string, v.ObjectEntries>;

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
  minToolCalls: preset(countOrNone, 1, 'Tool calls that have to succeed before a claim is believed.'),
  agent: preset(strictObject(groups.agent), {}, 'The agent that does the work.'),
  guardrails: preset(
    v.array(guardrail, 'a list of guardrails'),
    [],
    'Commands to pass after each iteration.',
  ),
  verify: preset(texts, [], 'Commands to pass before a claim is accepted.'),
  guard: preset(
    oneOf('auto', 'always', 'off'),
    'auto',
    'Judge tool calls before they happen: in unattended work without a sandbox, in every session, or never.',
  ),
  protectedPaths: preset(texts, [], 'Files whose change speaks against a claim, such as tests.'),
  protectChecks: preset(
    yesOrNo,
    false,
    'A change of what defines the checks (scripts, tests, configuration) speaks against a claim, too.',
  ),
  scm: optional(strictObject(groups.scm), 'Source control, run when all guardrails pass.'),
  notify: preset(strictObject(groups.notify), {}, 'How you are told that a loop needs or did something.'),
  sandbox: optional(
    oneOf('auto', 'sbx', 'docker-sandbox', 'bwrap', 'container', 'none'),
    'Where the agent runs; auto is the first of sbx, bwrap and container that works. If unset, `ralph prd run` takes that.',
  ),
  sandboxImage: optional(text, 'The image of the container: it has node, git and the agent.'),
  sandboxPaths: preset(texts, [], 'Paths that can be read in the sandbox besides; `path:rw` can be written.'),
  sandboxEnv: preset(texts, [], 'Names of environment variables that pass into the sandbox besides.'),
  sandboxChecks: preset(yesOrNo, true, 'Guardrails and verify commands run in the sandbox, too.'),
  allowHosts: preset(texts, [], 'Hosts that can be reached from the sandbox besides those of the agent.'),
  outputTruncateChars: preset(
    count,
    5000,
    'Characters of guardrail output that the agent is shown, a fifth from its beginning.',
  ),
  maxOutputLines: preset(countOrNone, 3, 'Lines of the output of a tool that you are shown.'),
  maxOutputChars: preset(count, 400, 'Characters of the output of a tool that you are shown.'),
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
} satisfies v.ObjectEntries;

export const settingsSchema = v.pipe(strictObject(fields), v.title('Settings of ralph'));

export type SettingsFile = v.InferInput<typeof settingsSchema>;

/** Settings as the loop uses them: defaults filled in, durations in milliseconds, flags split into words. */
export type ResolvedSettings = v.InferOutput<typeof settingsSchema>;

export function isSandboxed({ sandbox }: Pick<ResolvedSettings, 'sandbox'>): boolean {
  return sandbox !== undefined && sandbox !== 'none';
}

/** What the agent may do without asking; in a sandbox everything, unless the settings say otherwise. */
export function permissionsOf(settings: ResolvedSettings): 'full' | 'edit' | 'read' {
  return settings.agent.permissions ?? (isSandboxed(settings) ? 'full' : 'edit');
}

/** The dotted name of a setting, such as `maxCost` or `agent.command`. */
export type SettingKey =
  | Exclude<keyof typeof fields, keyof typeof groups>
  | { [G in keyof typeof groups]: `${G}.${keyof (typeof groups)[G] & string}` }[keyof typeof groups];

/** Description of a setting, and its default as it would be written. */
export type SettingInfo = { readonly description: string; readonly fallback?: unknown };

/** Every setting, in the order of the schema. */
export const settingTable: ReadonlyMap<SettingKey, SettingInfo> = new Map(
  keysOf(fields).flatMap((name): [SettingKey, SettingInfo][] => {
    if (name === 'agent')
      return keysOf(groups.agent).map((key) => [`agent.${key}`, infoOf(groups.agent[key])]);
    if (name === 'scm') return keysOf(groups.scm).map((key) => [`scm.${key}`, infoOf(groups.scm[key])]);
    if (name === 'notify')
      return keysOf(groups.notify).map((key) => [`notify.${key}`, infoOf(groups.notify[key])]);
    return [[name, infoOf(fields[name])]];
  }),
);

function infoOf(schema: v.GenericSchema): SettingInfo {
  return { description: v.getDescription(schema) ?? '', fallback: v.getDefault(schema) };
}

function keysOf<E extends v.ObjectEntries>(entries: E) {
  return v.keyof(v.object(entries)).options;
}

function optional<const S extends v.GenericSchema>(schema: S, description: string) {
  return v.pipe(v.exactOptional(schema), v.description(description));
}

/** A setting with a default, given as it would be written. */
function preset<const S extends v.GenericSchema, const D extends v.InferInput<S>>(
  schema: S,
  fallback: D,
  description: string,
) {
  return v.pipe(v.optional(schema, fallback), v.description(description));
}

function oneOf<const T extends string>(...words: T[]) {
  return v.picklist(words, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
}

/** Converts a value; null is a value that was not expected. */
function convert<In, Out>(turn: (value: In) => Out | null, expected: string) {
  return v.rawTransform<In, Out>(({ dataset, addIssue, NEVER }) => {
    const output = turn(dataset.value);
    if (output !== null) return output;
    addIssue({ message: expected });
    return NEVER;
  });
}

function splitFlags(values: string[]): string[] | null {
  const words = values.map(splitWords);
  return words.every((each) => each !== null) ? words.flat() : null;
}

import * as z from 'zod/mini';
import { durationPattern, parseDuration } from '../core/duration.ts';
import { splitWords } from '../core/words.ts';

// The `error` of each type completes the sentence "…, expected".
const text = z.string('text').check(z.regex(/\S/, 'text that is not empty'));
const count = z.int('a whole number above 0').check(z.positive('a whole number above 0'));
const countOrNone = z.int('a whole number, 0 or more').check(z.nonnegative('a whole number, 0 or more'));
const amount = z.number('a number above 0').check(z.positive('a number above 0'));
const yesOrNo = z.boolean('true or false');
const texts = z.array(text, 'a list of texts');

const durationWords = 'a duration such as "90s", "15m" or "1h30m", or a number of seconds';
const durationText = z
  .union(
    [
      z.string(durationWords).check(z.regex(durationPattern, durationWords)),
      z.number(durationWords).check(z.nonnegative(durationWords)),
    ],
    durationWords,
  )
  .check(z.refine((value) => parseDuration(value) !== null, durationWords));
const duration = z.pipe(
  durationText,
  z.transform((value) => parseDuration(value) ?? 0),
);
/** A duration after which something is stopped: null (written as 0) is never. */
const timeout = z.pipe(
  durationText,
  z.transform((value) => parseDuration(value) || null),
);

const flagWords = z.pipe(
  texts.check(
    z.refine((flags) => flags.every((flag) => splitWords(flag) !== null), 'words whose quotes are closed'),
  ),
  z.transform((flags) => flags.flatMap((flag) => splitWords(flag) ?? [])),
);

const failAction = z.pipe(
  z.transform((value) => (typeof value === 'string' ? value.toUpperCase() : value)),
  z.enum(['APPEND', 'PREPEND', 'REPLACE'], 'APPEND, PREPEND or REPLACE'),
);

const environment = z.record(
  z.string().check(z.regex(/^[^=\0]+$/, 'a name without "="')),
  z.string('text'),
  'an object of names and texts',
);

// From here on one line is one setting: its type, its default where it has one, and what it does.
const guardrail = {
  command: field(text, 'Shell command; a non-zero exit code is a failure.'),
  failAction: preset(failAction, 'APPEND', 'How a failure joins the next prompt.'),
  hint: optional(text, 'Told to the agent together with the failure.'),
  timeout: optional(timeout, 'Replaces guardrailTimeout for this command.'),
};

const agent = {
  command: optional(text, 'The agent CLI, by name or path.'),
  flags: preset(flagWords, [], 'More words for its command line, split as a shell would.'),
  permissions: optional(
    z.enum(['full', 'edit', 'read'], 'full, edit or read'),
    'What the agent may do without asking.',
  ),
  env: preset(environment, {}, 'Environment variables that only the agent gets.'),
};

const scm = {
  command: preset(text, 'git', 'Program that runs the tasks.'),
  tasks: preset(texts, [], 'Its tasks in order when the guardrails pass, such as commit and push.'),
};

/** Settings that hold settings of their own; a dot joins the names. */
const settingGroups = { agent, scm };

export const settingsSchema = z.strictObject(
  {
    $schema: optional(z.string('text'), 'Where an editor finds the JSON Schema of this file.'),
    maximumIterations: preset(count, 10, 'Iterations before the loop gives up.'),
    completionResponse: preset(
      text,
      'DONE',
      'The loop is done when the agent writes <response>this</response>.',
    ),
    completionPromise: optional(text, 'Use <promise>this</promise> as the marker in place of the response.'),
    promiseMatch: preset(
      z.enum(['claim', 'substring', 'lenient'], 'claim, substring or lenient'),
      'claim',
      'How the promise is found: as a claim, anywhere, or in any case and spacing.',
    ),
    donePattern: optional(text, 'A regular expression; text of the agent that matches is a claim, too.'),
    minToolCalls: preset(countOrNone, 1, 'Tool calls without which a claim is not believed.'),
    agent: preset(z.strictObject(agent, 'an object'), {}, 'The agent that does the work.'),
    guardrails: preset(
      z.array(z.strictObject(guardrail, 'an object with a command'), 'a list of guardrails'),
      [],
      'Commands that have to pass after each iteration.',
    ),
    verify: preset(texts, [], 'Commands that have to pass before a claim is accepted.'),
    protectedPaths: preset(texts, [], 'Files that the agent may not change on its way to a claim.'),
    scm: optional(z.strictObject(scm, 'an object'), 'Source control, run when all guardrails pass.'),
    outputTruncateChars: preset(count, 5000, 'Characters of guardrail output that the agent is shown.'),
    streamAgentOutput: preset(yesOrNo, true, 'Show what the agent does while it works.'),
    includeIterationCountInPrompt: preset(yesOrNo, false, 'Tell the agent which iteration this is.'),
    idleTimeout: preset(timeout, '30m', 'Stop an agent that has been silent this long; 0 is never.'),
    iterationTimeout: preset(timeout, '2h', 'Stop an agent that has run this long; 0 is never.'),
    guardrailTimeout: preset(timeout, '15m', 'Stop a guardrail that has run this long; 0 is never.'),
    exitGrace: preset(duration, '5s', 'Time for the agent to exit after its last word.'),
    maxWait: preset(duration, '6h', "Longest wait for the provider's limits, all in all."),
    maxTime: optional(timeout, 'Longest time for the whole loop.'),
    maxCost: optional(amount, 'Most US dollars for the whole loop.'),
    maxTokens: optional(count, 'Most tokens for the whole loop.'),
    maxIterationCost: optional(amount, 'Most US dollars for one iteration.'),
    maxIterationTokens: optional(count, 'Most tokens for one iteration.'),
    stuckAfter: preset(countOrNone, 3, 'Iterations without progress before the loop stops; 0 is never.'),
    maxFailures: preset(count, 5, 'Failed iterations in a row before the loop stops.'),
  },
  'an object',
);

/** What may stand in a settings file. */
export type SettingsFile = z.input<typeof settingsSchema>;

/** Settings as the loop uses them: defaults filled in, durations in milliseconds, flags split into words. */
export type ResolvedSettings = z.output<typeof settingsSchema>;

type Group = keyof typeof settingGroups;

/** The dotted name of a setting, such as `maxCost` or `agent.command`. */
export type SettingKey =
  | Exclude<keyof SettingsFile, Group>
  | { [G in Group]: `${G}.${keyof (typeof settingGroups)[G] & string}` }[Group];

/** All settings in the order of the schema. */
export const settingKeys: readonly SettingKey[] = keysOf(settingsSchema.shape).flatMap(
  (key): SettingKey[] => {
    if (key === 'agent') return keysOf(agent).map((name) => `agent.${name}` as const);
    if (key === 'scm') return keysOf(scm).map((name) => `scm.${name}` as const);
    return [key];
  },
);

/** The names that may stand in the object at `path`; none where anything may. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  if (path.length === 0) return keysOf(settingsSchema.shape);
  if (path.length === 1 && path[0] === 'agent') return keysOf(agent);
  if (path.length === 1 && path[0] === 'scm') return keysOf(scm);
  return path.length === 2 && path[0] === 'guardrails' ? keysOf(guardrail) : [];
}

/** What a setting does, in one sentence. */
export function describeSetting(key: SettingKey): string {
  const [name = '', inner = ''] = key.split('.');
  const groups: Record<string, Record<string, z.ZodMiniType>> = settingGroups;
  const shape: Record<string, z.ZodMiniType> = settingsSchema.shape;
  const schema = groups[name]?.[inner] ?? shape[name];
  return (schema && z.globalRegistry.get(schema)?.description) ?? '';
}

function keysOf<T extends object>(value: T): (keyof T & string)[] {
  return Object.keys(value) as (keyof T & string)[];
}

function field<S extends z.ZodMiniType>(type: S, description: string): S {
  return type.check(z.describe(description));
}

function optional<S extends z.ZodMiniType>(type: S, description: string) {
  return field(z.optional(type), description);
}

function preset<S extends z.ZodMiniType>(type: S, fallback: z.input<S>, description: string) {
  return field(z.prefault(type, fallback), description);
}

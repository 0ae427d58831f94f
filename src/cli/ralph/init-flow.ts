import { resolveSettings } from '../../config/settings-layers.ts';
import type { SettingsFile } from '../../config/settings-schema.ts';
import { splitWords } from '../../core/words.ts';

/** A conversation with a person: `ask` returns a line, or null at the end of the input. */
export type Talk = { ask(question: string): Promise<string | null>; say(text: string): void };

export type InitAnswer =
  | { readonly kind: 'settings'; readonly settings: SettingsFile }
  /** The existing file stays. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'interrupted' };

class Interrupted extends Error {}

const defaults = resolveSettings({}, 'the defaults');

/** Asks for all that a settings file needs. `existing` is shown before the question whether to overwrite it. */
export async function initFlow(talk: Talk, existing: string | null): Promise<InitAnswer> {
  try {
    if (existing !== null) {
      talk.say(existing);
      if (!(await askYesOrNo(talk, 'Overwrite? (y/N): '))) return { kind: 'kept' };
    }
    return { kind: 'settings', settings: await askSettings(talk) };
  } catch (error) {
    if (error instanceof Interrupted) return { kind: 'interrupted' };
    throw error;
  }
}

/** A settings file that also has the defaults that people change most often. */
export function newSettings(answers: SettingsFile): SettingsFile {
  return {
    maximumIterations: defaults.maximumIterations,
    completionResponse: defaults.completionResponse,
    outputTruncateChars: defaults.outputTruncateChars,
    streamAgentOutput: defaults.streamAgentOutput,
    includeIterationCountInPrompt: defaults.includeIterationCountInPrompt,
    ...answers,
  };
}

async function askSettings(talk: Talk): Promise<SettingsFile> {
  const command = await askUntil(
    talk,
    'Agent command (e.g., claude, codex, amp, or other LLM CLI): ',
    required('An agent command is required.'),
  );
  const flags = await askUntil(talk, 'Agent flags (comma-separated, optional): ', readFlags);
  const maximumIterations = await askUntil(
    talk,
    `Maximum iterations [${defaults.maximumIterations}]: `,
    readIterations,
  );
  const response = await askLine(talk, `Completion response [${defaults.completionResponse}]: `);
  const guardrails = await askGuardrails(talk);
  const scm = await askScm(talk);
  return newSettings({
    maximumIterations,
    completionResponse: response || defaults.completionResponse,
    agent: { command, flags },
    guardrails,
    ...(scm === null ? {} : { scm }),
  });
}

async function askGuardrails(talk: Talk): Promise<NonNullable<SettingsFile['guardrails']>> {
  const guardrails = [];
  for (;;) {
    const command = await askLine(talk, 'Add guardrail command (leave blank to finish): ');
    if (command === '') return guardrails;
    const failAction = await askUntil(talk, '  Fail action (APPEND|PREPEND|REPLACE): ', readFailAction);
    const hint = await askLine(talk, '  Hint (optional, guidance for agent on failure): ');
    guardrails.push({ command, failAction, ...(hint === '' ? {} : { hint }) });
  }
}

async function askScm(talk: Talk): Promise<NonNullable<SettingsFile['scm']> | null> {
  if (!(await askYesOrNo(talk, 'Configure SCM? (y/N): '))) return null;
  const command = await askUntil(
    talk,
    '  SCM command (e.g., git): ',
    required('  An SCM command is required.'),
  );
  const tasks = await askUntil(talk, '  SCM tasks (comma-separated, e.g., commit,push): ', (line) => {
    const names = splitCommas(line);
    return names.length === 0 ? { problem: '  At least one SCM task is required.' } : { answer: names };
  });
  return { command, tasks };
}

type Reading<T> = { readonly answer: T } | { readonly problem: string };

function required(problem: string): (line: string) => Reading<string> {
  return (line) => (line === '' ? { problem } : { answer: line });
}

function readFlags(line: string): Reading<string[]> {
  const flags = splitCommas(line);
  const open = flags.find((flag) => splitWords(flag) === null);
  return open === undefined ? { answer: flags } : { problem: `The quotes in ${open} are not closed.` };
}

function readIterations(line: string): Reading<number> {
  const iterations = line === '' ? defaults.maximumIterations : Number(line);
  if (/^\d*$/.test(line) && Number.isSafeInteger(iterations) && iterations > 0) return { answer: iterations };
  return { problem: 'Maximum iterations must be a positive integer.' };
}

function readFailAction(line: string): Reading<string> {
  const action = line.toUpperCase();
  if (['APPEND', 'PREPEND', 'REPLACE'].includes(action)) return { answer: action };
  return { problem: '  Fail action must be APPEND, PREPEND or REPLACE.' };
}

/** Asks again until the answer can be read. */
async function askUntil<T>(talk: Talk, question: string, parse: (line: string) => Reading<T>): Promise<T> {
  for (;;) {
    const reading = parse(await askLine(talk, question));
    if ('answer' in reading) return reading.answer;
    talk.say(reading.problem);
  }
}

async function askYesOrNo(talk: Talk, question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await askLine(talk, question));
}

async function askLine(talk: Talk, question: string): Promise<string> {
  const line = await talk.ask(question);
  if (line === null) throw new Interrupted();
  return line.trim();
}

function splitCommas(line: string): string[] {
  return line
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

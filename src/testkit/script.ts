import type { TodoItem } from '../agents/adapter.ts';
import { RalphError } from '../core/error.ts';
import type { Usage } from '../core/turn.ts';
import { type Check, is, isRecord, isWhole, listOf, notEmpty, oneOf, record } from './check.ts';

export const fakeAgentNames = [
  'claude',
  'codex',
  'amp',
  'opencode',
  'gemini',
  'copilot',
  'qwen',
  'pi',
  'cline',
  'custom',
] as const;

export type FakeAgentName = (typeof fakeAgentNames)[number];

/** A tool call that only appears in the stream; nothing is run. */
export type ScriptedTool = {
  readonly name: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly output?: string;
  readonly ok?: boolean;
  readonly exitCode?: number;
};

/** An error of the model's API. `resetsAt` is in epoch seconds. */
export type ApiError = { readonly status: number; readonly message: string; readonly resetsAt?: number };

export type ScriptedResult = {
  readonly ok?: boolean;
  readonly usage?: Partial<Omit<Usage, 'costUsd' | 'estimated'>>;
  readonly costUsd?: number;
};

export type Flood = {
  readonly bytes: number;
  readonly lineBytes: number;
  readonly as: 'tool' | 'text' | 'raw';
};

export type Child = { readonly seconds: number; readonly setsid?: boolean; readonly holdOutput?: boolean };

/** Every step by its one key. `docs/testkit.md` says what each does. */
export type StepValues = {
  readonly text: string;
  readonly deltas: readonly string[];
  readonly thinking: string;
  readonly tool: ScriptedTool;
  readonly shell: string;
  readonly write: { readonly path: string; readonly content: string };
  readonly todo: readonly TodoItem[];
  readonly subagent: { readonly text: string };
  readonly echoPrompt: true;
  readonly raw: string;
  readonly rawBytes: string;
  readonly flood: Flood;
  readonly delay: number;
  readonly hang: true;
  readonly ignoreSignals: true;
  readonly child: Child;
  readonly error: ApiError;
  readonly result: ScriptedResult;
  readonly stderr: string;
};

export type Step = { [Name in keyof StepValues]: Pick<StepValues, Name> }[keyof StepValues];

export type ScriptTurn = {
  readonly steps: readonly Step[];
  /** Without it, the code that this CLI would end with. */
  readonly exitCode?: number;
  /** Leave out the event that ends the turn. */
  readonly noResult?: boolean;
  /** Texts that the prompt has to contain; otherwise the agent exits with 97. */
  readonly expectPrompt?: readonly string[];
  /** Stay alive after the end of the turn. */
  readonly hangAfterResult?: boolean;
};

/** What a fake agent does, turn by turn. */
export type Script = {
  readonly agent: FakeAgentName;
  readonly turns: readonly ScriptTurn[];
  /** What to do when the turns are used up; `repeat-last` unless told. */
  readonly after?: 'repeat-last' | 'fail';
  /** Write each call to `<script>.calls.ndjson`. */
  readonly record?: boolean;
  /** What `--version` prints, instead of the version that the format was recorded from. */
  readonly version?: string;
};

/** Throws one sentence that names the place and what is expected there. */
export function assertScript(value: unknown): asserts value is Script {
  const problem = script(value, 'script');
  if (problem === null) return;
  throw new RalphError('fake-script', `The fake agent's script is wrong: ${problem}.`, {
    remedy: 'see docs/testkit.md for the steps of a script',
  });
}

const string = is('a string', (value) => typeof value === 'string');
const boolean = is('true or false', (value) => typeof value === 'boolean');
const yes = is('true', (value) => value === true);
const count = is('a number of 0 or more', (value) => typeof value === 'number' && value >= 0);
const size = is('a number above 0', (value) => typeof value === 'number' && value > 0);
const exitCode = is('a whole number from 0 to 255', (value) => isWhole(value) && value >= 0 && value <= 255);
const base64 = is(
  'base64 text',
  (value) => typeof value === 'string' && /^[A-Za-z0-9+/\s]*={0,2}$/.test(value),
);

const stepChecks: { readonly [Name in keyof StepValues]: Check } = {
  text: string,
  deltas: listOf(string),
  thinking: string,
  tool: record({ name: string }, { input: isRecord, output: string, ok: boolean, exitCode }),
  shell: string,
  write: record({ path: string, content: string }),
  todo: listOf(record({ text: string, status: oneOf('pending', 'active', 'done') })),
  subagent: record({ text: string }),
  echoPrompt: yes,
  raw: string,
  rawBytes: base64,
  flood: record({ bytes: size, lineBytes: size, as: oneOf('tool', 'text', 'raw') }),
  delay: count,
  hang: yes,
  ignoreSignals: yes,
  child: record({ seconds: count }, { setsid: boolean, holdOutput: boolean }),
  error: record({ status: count, message: string }, { resetsAt: count }),
  result: record(
    {},
    {
      ok: boolean,
      usage: record(
        {},
        { inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count },
      ),
      costUsd: count,
    },
  ),
  stderr: string,
};

const turn = record(
  { steps: listOf(step) },
  { exitCode, noResult: boolean, expectPrompt: listOf(string), hangAfterResult: boolean },
);

const script = record(
  { agent: oneOf(...fakeAgentNames), turns: notEmpty(listOf(turn)) },
  { after: oneOf('repeat-last', 'fail'), record: boolean, version: string },
);

function step(value: unknown, path: string): string | null {
  const problem = isRecord(value, path);
  if (problem !== null) return problem;
  const [entry, second] = Object.entries(Object(value));
  if (entry === undefined) return `${path} is empty; a step has one key, such as "text"`;
  if (second !== undefined) return `${path} has both "${entry[0]}" and "${second[0]}"; a step has one key`;
  const check = Object.entries(stepChecks).find(([name]) => name === entry[0])?.[1];
  if (check === undefined) {
    return `${path} is an unknown step "${entry[0]}"; the steps are ${Object.keys(stepChecks).join(', ')}`;
  }
  return check(entry[1], `${path}.${entry[0]}`);
}

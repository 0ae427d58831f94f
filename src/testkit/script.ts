import * as v from 'valibot';
import type { TodoItem } from '../agents/adapter.ts';
import { strictObject } from '../core/strict-object.ts';
import type { Usage } from '../core/turn.ts';
import {
  anyObject,
  assertBy,
  boolean,
  count,
  file,
  fullListOf,
  listOf,
  oneKeyOf,
  oneOf,
  size,
  string,
  tokens,
  yes,
} from './schemas.ts';

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

// These types are published, so they do not depend on the schema library.

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
type StepValues = {
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

const flag = v.exactOptional(boolean);
const text = v.exactOptional(string);
const exitCode = v.exactOptional(
  v.message(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)), 'a whole number from 0 to 255'),
);

/** Every step by its one key. `docs/testkit.md` says what each does. */
const steps = {
  text: string,
  deltas: listOf(string),
  thinking: string,
  tool: strictObject({ name: string, input: v.exactOptional(anyObject), output: text, ok: flag, exitCode }),
  shell: string,
  write: file,
  todo: listOf(strictObject({ text: string, status: oneOf('pending', 'active', 'done') })),
  subagent: strictObject({ text: string }),
  echoPrompt: yes,
  raw: string,
  flood: strictObject({ bytes: size, lineBytes: size, as: oneOf('tool', 'text', 'raw') }),
  delay: count,
  hang: yes,
  ignoreSignals: yes,
  child: strictObject({ seconds: count, setsid: flag, holdOutput: flag }),
  error: strictObject({ status: count, message: string, resetsAt: v.exactOptional(count) }),
  result: strictObject({ ok: flag, usage: v.exactOptional(tokens), costUsd: v.exactOptional(count) }),
  stderr: string,
};

const turn = strictObject({
  steps: listOf(oneKeyOf(steps)),
  exitCode,
  noResult: flag,
  expectPrompt: v.exactOptional(listOf(string)),
  hangAfterResult: flag,
});

const script = strictObject({
  agent: oneOf(...fakeAgentNames),
  turns: fullListOf(turn),
  after: v.exactOptional(oneOf('repeat-last', 'fail')),
  record: flag,
  version: text,
});

/** Throws one sentence that names the place and what is expected there. */
export function assertScript(value: unknown): asserts value is Script {
  const remedy = 'see docs/testkit.md for the steps of a script';
  assertBy(script, value, { code: 'fake-script', whose: "fake agent's", remedy });
}

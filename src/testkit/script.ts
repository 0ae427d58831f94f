import * as v from 'valibot';
import { strictObject } from '../core/strict-object.ts';
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

const flag = v.exactOptional(boolean);
const text = v.exactOptional(string);
const exitCode = v.exactOptional(
  v.message(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)), 'a whole number from 0 to 255'),
);
const base64 = v.message(v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/\s]*={0,2}$/)), 'base64 text');

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
  rawBytes: base64,
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

export type FakeAgentName = (typeof fakeAgentNames)[number];
/** A tool call that only appears in the stream; nothing is run. */
export type ScriptedTool = v.InferOutput<typeof steps.tool>;
/** An error of the model's API. `resetsAt` is in epoch seconds. */
export type ApiError = v.InferOutput<typeof steps.error>;
export type ScriptedResult = v.InferOutput<typeof steps.result>;
export type Flood = v.InferOutput<typeof steps.flood>;
export type Child = v.InferOutput<typeof steps.child>;
export type Step = {
  [Name in keyof typeof steps]: { readonly [Key in Name]: v.InferOutput<(typeof steps)[Name]> };
}[keyof typeof steps];
export type ScriptTurn = Omit<v.InferOutput<typeof turn>, 'steps'> & { readonly steps: readonly Step[] };
/** What a fake agent does, turn by turn. */
export type Script = Omit<v.InferOutput<typeof script>, 'turns'> & { readonly turns: readonly ScriptTurn[] };

/** Throws one sentence that names the place and what is expected there. */
export function assertScript(value: unknown): asserts value is Script {
  const remedy = 'see docs/testkit.md for the steps of a script';
  assertBy(script, value, { code: 'fake-script', whose: "fake agent's", remedy });
}

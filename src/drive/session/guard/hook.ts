import { checkToolCall, type GuardVerdict } from 'ralphkit-guard';
import { asRecord, str } from '../../../agents/json.ts';
import { messageOf } from '../../../core/error.ts';
import { isObject } from '../../../core/json.ts';
import type { Environment } from '../../../os/process/program.ts';
import type { Denial } from '../../mailbox.ts';
import { type CallPlace, guardDuty, ownsRules } from './duty.ts';
import { shorten } from './shorten.ts';

type GuardAnswer = {
  /** The JSON document to print; null is nothing to say. */
  readonly output: object | null;
  /** The denied call, for the journal. */
  readonly denial: Denial | null;
};

const nothing: GuardAnswer = { output: null, denial: null };

/** Answers the event before a tool call: PreToolUse of Claude Code and Codex, BeforeTool of Gemini. */
export async function guardHook(event: unknown, env: Environment): Promise<GuardAnswer> {
  const { tool_name: tool, tool_input: words, hook_event_name: name } = asRecord(event);
  const place = placeOf(event, env);
  if (typeof tool !== 'string') {
    if ((await guardDuty(place)) === null) return nothing;
    throw new Error('the event of the host cannot be read, so the call cannot be judged');
  }
  const verdict = await judgeCall(tool, words, place);
  if (verdict === null) return nothing;
  return { output: outputFor(name, verdict), denial: denialOf(verdict, tool, words) };
}

/** Returns the place that an event comes from. */
export function placeOf(event: unknown, env: Environment): CallPlace {
  const { cwd, session_id: sessionId } = asRecord(event);
  return { env, cwd: str(cwd) || (env.PWD ?? '/'), sessionId: str(sessionId) ?? '' };
}

/** Returns the verdict on a tool call; null if the guard is off here. */
export async function judgeCall(
  tool: string,
  words: unknown,
  place: CallPlace,
): Promise<GuardVerdict | null> {
  const duty = await guardDuty(place);
  if (duty === null) return null;
  const { cwd, env } = place;
  try {
    const strict = await checkToolCall(tool, words, { cwd, env, ...duty, allowRules: false });
    // Only a refusal is worth the question whose rules these are.
    if (strict.verdict === 'allow' || !(await ownsRules(cwd, env))) return strict;
    return await checkToolCall(tool, words, { cwd, env, ...duty });
  } catch (error) {
    // Fails closed: nobody watches unattended work.
    return {
      verdict: 'deny',
      category: 'unparsable',
      reason: `the guard cannot judge this: ${messageOf(error)}`,
    };
  }
}

/** Returns the denial for the journal; null if the call is not denied. */
export function denialOf(
  { verdict, category, reason }: GuardVerdict,
  tool: string,
  words: unknown,
): Denial | null {
  if (verdict !== 'deny') return null;
  return { tool, what: describeCall(words), category: category ?? 'unparsable', reason: reason ?? '' };
}

/** Returns the text for the agent, shortened: it goes into its context. */
export function guardText({ category, reason }: GuardVerdict): string {
  return `ralph guard (${category}): ${shorten(reason ?? '', 600)}`;
}

/** Returns the answer in the form of the host, which the name of its event tells. */
function outputFor(event: unknown, verdict: GuardVerdict): object | null {
  const text = guardText(verdict);
  if (verdict.verdict === 'allow') return null;
  if (verdict.verdict === 'warn') return { systemMessage: text };
  if (event === 'BeforeTool') return { decision: 'deny', reason: text };
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: text,
    },
  };
}

/** Fields of a tool's input that hold its command, its files or its patch. */
const fields = [
  ['command', 'cmd'],
  ['file_path', 'notebook_path', 'filePath', 'absolute_path', 'path', 'paths', 'source', 'destination'],
  ['input', 'patch', 'patchText'],
];

/** Returns the command, the files or the patch of a tool call, for the journal. */
function describeCall(input: unknown): string {
  if (!isObject(input)) return textOf(input);
  const texts = fields.map((names) => names.map((name) => textOf(input[name])).filter(Boolean));
  return texts.find((list) => list.length > 0)?.join('\n') ?? '';
}

/** Joins a list: some agents pass the words of a command, or several paths. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return str(value) ?? '';
}

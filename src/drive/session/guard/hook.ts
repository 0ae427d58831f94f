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
  const judgement = await judgeCall(tool, words, place);
  if (judgement === null) return nothing;
  const { verdict, text, denial } = judgement;
  return { output: outputFor(name, verdict, text), denial };
}

/** Returns the place that an event comes from. */
export function placeOf(event: unknown, env: Environment): CallPlace {
  const { cwd, session_id: sessionId } = asRecord(event);
  return { env, cwd: str(cwd) || (env.PWD ?? '/'), sessionId: str(sessionId) ?? '' };
}

/** Judges a tool call; null if the guard is off here. */
export async function judgeCall(tool: string, words: unknown, place: CallPlace) {
  const duty = await guardDuty(place);
  if (duty === null) return null;
  const { verdict, ...why } = await verdictOn(tool, words, place, duty);
  const category = why.category ?? 'unparsable';
  const reason = why.reason ?? '';
  return {
    verdict,
    /** Text for the agent, shortened: it goes into its context. */
    text: `ralph guard (${category}): ${shorten(reason, 600)}`,
    /** The denial for the journal; null if the call is not denied. */
    denial: verdict === 'deny' ? { tool, what: describeCall(words), category, reason } : null,
  };
}

async function verdictOn(
  tool: string,
  words: unknown,
  { cwd, env }: CallPlace,
  duty: { readonly unattended: boolean },
): Promise<GuardVerdict> {
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

/** Returns the answer in the form of the host, which the name of its event tells. */
function outputFor(event: unknown, verdict: GuardVerdict['verdict'], text: string): object | null {
  if (verdict === 'allow') return null;
  if (verdict === 'warn') return { systemMessage: text };
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

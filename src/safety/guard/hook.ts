import { messageOf } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import type { Denial } from '../../store/mailbox.ts';
import { loadGuardContext } from './load-context.ts';
import type { Environment, Finding } from './model.ts';
import { shorten } from './shorten.ts';
import { type CallPlace, guardDuty } from './switch.ts';
import { describeCall, judgeToolCall } from './tool-call.ts';

/** Hosts that ask before a tool call. Codex takes the form of Claude Code. */
export type GuardHost = 'claude-code' | 'codex' | 'gemini';

export type GuardAnswer = {
  /** The JSON document to print; null is nothing to say. */
  readonly output: object | null;
  /** What was refused, for the record. */
  readonly denial: Denial | null;
};

const nothing: GuardAnswer = { output: null, denial: null };

/** Answers the event before a tool call: PreToolUse of Claude Code and Codex, BeforeTool of Gemini. */
export function guardHook(input: unknown, env: Environment, host: GuardHost = hostOf(input)): GuardAnswer {
  if (!isObject(input) || typeof input.tool_name !== 'string') {
    // Nobody knows what would be called. In a run that is no reason to let it happen.
    if (guardDuty(placeOf(isObject(input) ? input : {}, env)) === null) return nothing;
    throw new Error('the event of the host cannot be read, so the call cannot be judged');
  }
  const { tool_name: tool, tool_input: words } = input;
  const finding = judgeCall(tool, words, placeOf(input, env));
  if (finding === null) return nothing;
  return { output: outputFor(host, finding), denial: denialOf(finding, tool, words) };
}

/** Where an event comes from. */
export function placeOf(input: Readonly<Record<string, unknown>>, env: Environment): CallPlace {
  const { cwd, session_id: sessionId } = input;
  return {
    env,
    cwd: typeof cwd === 'string' && cwd !== '' ? cwd : (env.PWD ?? '/'),
    sessionId: typeof sessionId === 'string' ? sessionId : '',
  };
}

/** What the guard says to a tool call; null where it has no say. */
export function judgeCall(tool: string, words: unknown, place: CallPlace): Finding | null {
  const duty = guardDuty(place);
  if (duty === null) return null;
  try {
    return judgeToolCall(tool, words, loadGuardContext(place.cwd, place.env, duty.unattended));
  } catch (error) {
    // Nobody watches: what goes wrong in the guard itself must not open the door.
    return {
      verdict: 'deny',
      category: 'unparsable',
      reason: `the guard cannot judge this: ${messageOf(error)}`,
    };
  }
}

/** The record of a refusal; null where nothing was refused. */
export function denialOf(
  { verdict, category = 'unparsable', reason = '' }: Finding,
  tool: string,
  words: unknown,
): Denial | null {
  return verdict === 'deny' ? { tool, what: describeCall(words), category, reason } : null;
}

/** What the agent is told. It goes into its context, so that a path of kilobytes does not stand there whole. */
export function guardText({ category, reason = '' }: Finding): string {
  return `ralph guard (${category}): ${shorten(reason, 600)}`;
}

function hostOf(input: unknown): GuardHost {
  return isObject(input) && input.hook_event_name === 'BeforeTool' ? 'gemini' : 'claude-code';
}

function outputFor(host: GuardHost, finding: Finding): object | null {
  const text = guardText(finding);
  if (finding.verdict === 'allow') return null;
  if (finding.verdict === 'warn') return { systemMessage: text };
  if (host === 'gemini') return { decision: 'deny', reason: text };
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: text,
    },
  };
}

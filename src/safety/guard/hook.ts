import { messageOf } from '../../core/error.ts';
import { isObject } from '../../core/shape.ts';
import { loadGuardContext } from './load-context.ts';
import type { Environment, Finding } from './model.ts';
import { guardIsOn } from './switch.ts';
import { judgeToolCall } from './tool-call.ts';

/**
 * Answers the event before a tool call (PreToolUse of Claude Code and Codex, BeforeTool of Gemini) with the JSON document
 * to print, or with null when there is nothing to say.
 */
export function guardHook(input: unknown, env: Environment): object | null {
  if (!guardIsOn(env) || !isObject(input) || typeof input.tool_name !== 'string') return null;
  const event = input.hook_event_name === 'BeforeTool' ? 'BeforeTool' : 'PreToolUse';
  return reply(event, judge(input, input.tool_name, env));
}

/** Nobody watches: what goes wrong in the guard itself must not open the door. */
function judge(input: Readonly<Record<string, unknown>>, tool: string, env: Environment): Finding {
  try {
    const cwd = typeof input.cwd === 'string' && input.cwd !== '' ? input.cwd : (env.PWD ?? '/');
    return judgeToolCall(tool, input.tool_input, loadGuardContext(cwd, env, Boolean(env.RALPH_RUN_ID)));
  } catch (error) {
    return {
      verdict: 'deny',
      category: 'unparsable',
      reason: `the guard cannot judge this: ${messageOf(error)}`,
    };
  }
}

function reply(event: 'PreToolUse' | 'BeforeTool', { verdict, category, reason }: Finding): object | null {
  const text = `ralph guard (${category}): ${reason}`;
  if (verdict === 'allow') return null;
  if (verdict === 'warn') return { systemMessage: text };
  if (event === 'BeforeTool') return { decision: 'deny', reason: text };
  return {
    hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: text },
  };
}

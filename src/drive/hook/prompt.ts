import type { HookHost } from '../../agents/host.ts';
import { messageOf } from '../../core/error.ts';
import { type Command, commandIn, commandOf, isPlainStop, isStart } from '../session/commands.ts';
import { controlLoop, pauseLoop } from '../session/control.ts';
import {
  type HookContext,
  noticeOf,
  type Reply,
  type SessionContext,
  silent,
} from '../session/hook-reply.ts';
import { openLoop } from '../session/session-loops.ts';
import { startSessionLoop } from '../session/start.ts';
import { type HookInput, hasSession, type SessionInput, turnReader } from './input.ts';
import { otherLoopIn } from './other-loop.ts';

/** Handles a prompt of the user: carries out a command of ours, or looks whether the user broke the loop off. */
export function promptHook(host: HookHost, input: HookInput, context: HookContext): Reply {
  if (!hasSession(input) || input.subagent) return silent;
  const command = commandOfInput(host, input);
  try {
    return command === null ? onOtherPrompt(host, input, context) : carryOut(host, command, input, context);
  } catch (error) {
    context.warn(`ralph: the prompt hook failed: ${messageOf(error)}`);
    return command === null ? silent : { kind: 'answer', message: `Ralph loop: ${messageOf(error)}` };
  }
}

function carryOut(
  host: HookHost,
  { name, args }: Command,
  { sessionId, cwd, promptId, transcriptPath }: SessionInput,
  context: SessionContext,
): Reply {
  if (!isStart(name)) {
    const readTurn = turnReader(host, { transcriptPath, lastMessage: null });
    return controlLoop({ control: name, sessionId, promptId, readTurn, cwd }, context);
  }
  const { name: hostName, needsEscape } = host;
  const event = { host: hostName, sessionId, command: name, args, cwd, promptId, transcriptPath };
  return startSessionLoop({ ...event, needsEscape, otherLoop: otherLoopIn(cwd) }, context);
}

/**
 * Pauses a loop that the user broke off, or tells to stop. Claude Code has no hook for Escape, so the next prompt is the
 * first chance.
 */
function onOtherPrompt(
  host: HookHost,
  { sessionId, commandName, prompt, transcriptPath }: SessionInput,
  context: SessionContext,
): Reply {
  if (commandName !== null) return silent;
  const state = openLoop(context.env, sessionId);
  if (state?.status !== 'active') return silent;
  const turn = turnReader(host, { transcriptPath, lastMessage: null })(state.transcript);
  if (turn.interrupted) return noticeOf(pauseLoop(state, turn, 'you interrupted it', context));
  const isStop = isPlainStop(host.promptOf?.(prompt) ?? prompt);
  return isStop ? noticeOf(pauseLoop(state, turn, 'you said stop', context)) : silent;
}

/** Returns the command that the host's event names, or that the prompt starts with. */
function commandOfInput(host: HookHost, { commandName, commandArgs, prompt }: HookInput): Command | null {
  if (commandName !== null) return commandOf(commandName.replace(/^.*:/, ''), commandArgs);
  return commandIn(host.promptOf?.(prompt) ?? prompt);
}

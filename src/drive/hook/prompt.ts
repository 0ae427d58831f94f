import type { HookHost } from '../../agents/host.ts';
import { messageOf } from '../../core/error.ts';
import { type CommandName, isStart, loopCommands } from '../session/commands.ts';
import { controlLoop, pauseLoop } from '../session/control.ts';
import { type HookContext, type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { activeLoop } from '../session/session-loops.ts';
import { startSessionLoop } from '../session/start.ts';
import { readTranscript } from '../session/transcript.ts';
import { type HookInput, hasSession, type SessionInput } from './input.ts';

type Command = { readonly name: CommandName; readonly args: string };

/** Handles a prompt of the user: carries out a command of ours, or looks whether the user broke the loop off. */
export function promptHook(host: HookHost, input: HookInput, context: HookContext): Reply {
  if (!hasSession(input) || input.subagent) return silent;
  const command = commandIn(host, input);
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
  if (!isStart(name)) return controlLoop({ control: name, sessionId, promptId }, context);
  return startSessionLoop(
    { host: host.name, sessionId, command: name, args, cwd, promptId, transcriptPath },
    context,
  );
}

/** Pauses a loop that the user broke off. Claude Code has no hook for Escape, so the next prompt is the first chance. */
function onOtherPrompt(
  host: HookHost,
  { sessionId, commandName, transcriptPath }: SessionInput,
  context: SessionContext,
): Reply {
  if (commandName !== null) return silent;
  const state = activeLoop(context.env, sessionId);
  if (state === null) return silent;
  const { interrupted } = readTranscript(host.transcript, {
    path: transcriptPath,
    from: state.transcript,
    lastMessage: null,
  });
  return interrupted ? pauseLoop(state, 'you interrupted it', context) : silent;
}

/** Returns the command that the host's event names, or that the prompt starts with; ignores the prefix of a plugin. */
function commandIn(host: HookHost, input: HookInput): Command | null {
  if (input.commandName !== null) return commandOf(input.commandName.replace(/^.*:/, ''), input.commandArgs);
  const prompt = host.promptOf?.(input.prompt) ?? input.prompt;
  const [, word, args] = /^\s*\/(?:[\w.-]+:)?([\w-]+)(?:\s([\s\S]*))?$/.exec(prompt) ?? [];
  return commandOf(word, args);
}

function commandOf(word: string | undefined, args = ''): Command | null {
  const name = loopCommands.find((each) => each === word);
  return name === undefined ? null : { name, args };
}

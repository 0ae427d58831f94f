import type { HookHost } from '../../agents/host.ts';
import { messageOf } from '../../core/error.ts';
import { type Control, controlLoop, pauseLoop } from '../session/control.ts';
import { type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { readSessionLoop } from '../session/session-loops.ts';
import { startSessionLoop } from '../session/start.ts';
import { readTranscript } from '../session/transcript.ts';
import { type HookInput, hasSession, type SessionInput } from './input.ts';

const commands = {
  'ralph-loop': 'start',
  'ulw-loop': 'start',
  'cancel-ralph': 'control',
  'ralph-status': 'control',
  'ralph-pause': 'control',
  'ralph-resume': 'control',
} as const;

type Name = keyof typeof commands;
type Command = { readonly name: Name; readonly args: string };

/** The hook of what the user types. */
export function promptHook(
  host: HookHost,
  input: HookInput,
  context: SessionContext,
  warn: (line: string) => void,
): Reply {
  if (!hasSession(input) || input.subagent) return silent;
  const command = commandIn(host, input);
  try {
    return command === null ? onOtherPrompt(host, input, context) : carryOut(host, command, input, context);
  } catch (error) {
    warn(`ralph: the prompt hook failed: ${messageOf(error)}`);
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

/** Pauses a loop that the user broke off: Escape raises no hook in Claude Code, so that the next prompt is the first chance. */
function onOtherPrompt(
  host: HookHost,
  { sessionId, commandName, transcriptPath }: SessionInput,
  context: SessionContext,
): Reply {
  if (commandName !== null) return silent;
  const stored = readSessionLoop(context.env, sessionId);
  if (stored.kind !== 'loop' || stored.state.status !== 'active') return silent;
  const { interrupted } = readTranscript(host.transcript, {
    path: transcriptPath,
    from: stored.state.transcript,
    lastMessage: null,
  });
  return interrupted ? pauseLoop(stored.state, 'you interrupted it', context) : silent;
}

/** The command in the host's own event, or at the start of the raw prompt; a plugin's prefix does not matter. */
function commandIn(host: HookHost, input: HookInput): Command | null {
  if (input.commandName !== null) {
    const name = nameOf(input.commandName.replace(/^.*:/, ''));
    return name === null ? null : { name, args: input.commandArgs };
  }
  const prompt = host.promptOf?.(input.prompt) ?? input.prompt;
  const [, word = '', args = ''] = /^\s*\/(?:[\w.-]+:)?([\w-]+)(?:\s([\s\S]*))?$/.exec(prompt) ?? [];
  const name = nameOf(word);
  return name === null ? null : { name, args };
}

function nameOf(word: string): Name | null {
  return Object.hasOwn(commands, word) ? (word as Name) : null;
}

function isStart(name: Name): name is Exclude<Name, Control> {
  return commands[name] === 'start';
}

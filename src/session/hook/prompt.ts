import { messageOf } from '../../core/error.ts';
import { readSessionLoop } from '../../store/session-loops.ts';
import type { SessionContext } from '../context.ts';
import { type Control, controlLoop, pauseLoop } from '../control.ts';
import { type Reply, silent } from '../reply.ts';
import { startSessionLoop } from '../start.ts';
import { readTranscript } from '../transcript.ts';
import type { HookHost } from './host.ts';
import { type HookInput, readHookInput } from './input.ts';

const commands = {
  'ralph-loop': 'start',
  'ulw-loop': 'start',
  'cancel-ralph': 'control',
  'ralph-status': 'control',
  'ralph-pause': 'control',
  'ralph-resume': 'control',
} as const;

type Name = keyof typeof commands;
type Called = { readonly name: Name; readonly args: string };

/** The hook of what the user types: what it prints for what it reads. Never throws. */
export function promptHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): string {
  const read = readHookInput(input);
  if (read === null) return '';
  try {
    return host.print(read.event, reply(host, read, context));
  } catch (error) {
    warn(`ralph: the prompt hook failed: ${messageOf(error)}`);
    if (calledIn(host, read) === null) return '';
    return host.print(read.event, { kind: 'answer', message: `Ralph loop: ${messageOf(error)}` });
  }
}

function reply(host: HookHost, read: HookInput, context: SessionContext): Reply {
  if (read.subagent) return silent;
  const called = calledIn(host, read);
  if (called === null) return onOtherPrompt(host, read, context);
  const { sessionId, cwd, promptId, transcriptPath } = read;
  if (!isStart(called.name)) return controlLoop({ control: called.name, sessionId, promptId }, context);
  const { name: command, args } = called;
  return startSessionLoop(
    { host: host.name, sessionId, command, args, cwd, promptId, transcriptPath },
    context,
  );
}

/** Escape raises no hook in Claude Code: the user's next words are the first chance to see it, and they come first. */
function onOtherPrompt(host: HookHost, read: HookInput, context: SessionContext): Reply {
  if (read.commandName !== null) return silent;
  const found = readSessionLoop(context.env, read.sessionId);
  if (found.kind !== 'loop' || found.state.status !== 'active') return silent;
  const { interrupted } = readTranscript(host.transcript, read.transcriptPath, found.state.transcript, null);
  return interrupted ? pauseLoop(found.state, 'you interrupted it', context) : silent;
}

/** The command in the host's own event, or at the start of the raw prompt; a plugin's prefix does not matter. */
function calledIn(host: HookHost, read: HookInput): Called | null {
  if (read.commandName !== null) {
    const name = nameOf(read.commandName.replace(/^.*:/, ''));
    return name === null ? null : { name, args: read.commandArgs };
  }
  const prompt = host.promptOf?.(read.prompt) ?? read.prompt;
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

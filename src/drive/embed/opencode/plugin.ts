import { messageOf } from '../../../core/error.ts';
import { isObject } from '../../../core/json.ts';
import { type Clock, systemClock } from '../../../os/clock.ts';
import { parseLoopCommand } from '../../session/command-line.ts';
import { type CommandName, isPlainStop, isStart, type StartName } from '../../session/commands.ts';
import { controlLoop } from '../../session/control.ts';
import type { Reply, SessionContext } from '../../session/hook-reply.ts';
import { reminderMessage } from '../../session/loop-messages.ts';
import {
  openLoop,
  type SessionLoop,
  type TranscriptMark,
  updateSessionLoop,
} from '../../session/session-loops.ts';
import { hasSessionLoop } from '../../session/session-paths.ts';
import { startSessionLoop } from '../../session/start.ts';
import { readHostError, readMessages, sessionOfEvent } from '../host-messages.ts';
import { createToaster, type Toaster } from '../toaster.ts';
import { createHost } from './client.ts';
import { addCommands, answer, say } from './commands.ts';
import { createOpenCodeDriver, loopFacts, type OpenCodeDriver, readSession } from './driver.ts';
import { toolGuard } from './guard.ts';
import type { PluginHooks, PluginInput } from './types.ts';

type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argv: readonly string[];
  readonly clock: Clock;
  warn(line: string): void;
};

const endsEarly =
  'opencode run ends when the session is idle for the first time, so no loop is started: the task is worked on once. ' +
  'Take the TUI, opencode serve, or ralph run --agent opencode.';

/** The OpenCode plugin: the commands of a loop, and the guard of tool calls. */
export async function RalphLoop(input: PluginInput): Promise<PluginHooks> {
  if (isSecond(input.client)) return {};
  return createPlugin(input, {
    env: process.env,
    argv: process.argv,
    clock: systemClock,
    warn: (line) => void process.stderr.write(`${line}\n`),
  });
}

type PluginParts = {
  readonly directory: string;
  readonly surroundings: Surroundings;
  readonly host: ReturnType<typeof createHost>;
  readonly toasts: Toaster;
  readonly context: SessionContext;
  readonly driver: OpenCodeDriver;
};

type Command = {
  readonly name: CommandName;
  readonly sessionId: string;
  readonly args: string;
  readonly promptId: string;
};

export function createPlugin({ client, directory }: PluginInput, surroundings: Surroundings): PluginHooks {
  const { env, clock } = surroundings;
  const host = createHost(client, directory);
  const context: SessionContext = {
    env,
    now: () => clock.now(),
    driver: import.meta.dirname,
    version: __VERSION__,
  };
  const toasts = createToaster(host.showToast, host.log);
  const driver = createOpenCodeDriver({ host, toasts, context, clock });
  const parts: PluginParts = { directory, surroundings, host, toasts, context, driver };
  let names: readonly CommandName[] = [];
  let commands = 0;
  return {
    async config(config) {
      names = addCommands(config);
    },
    async 'command.execute.before'({ command, sessionID, arguments: args }, { parts: output }) {
      const name = names.find((each) => each === command);
      if (name === undefined) return;
      const promptId = `${clock.now()}-${++commands}`;
      say(output, await runCommand(parts, { name, sessionId: sessionID, args, promptId }));
    },
    'tool.execute.before': toolGuard(directory, env, context.now),
    async 'chat.message'({ sessionID }, output) {
      driver.userWrote(sessionID);
      const words = output?.parts.map(({ text = '' }) => text).join('') ?? '';
      if (!isPlainStop(words) || !hasSessionLoop(env, sessionID)) return;
      const event = { control: 'ralph-pause', sessionId: sessionID, promptId: null } as const;
      const reply = controlLoop(event, context);
      if (reply.kind === 'answer') toasts.notice(reply.message);
    },
    async event({ event }) {
      if (!handledEvents.has(event.type) || !isObject(event.properties)) return;
      await handleEvent(driver, event.type, event.properties).catch((error: unknown) => {
        host.log.error('An event could not be handled', { event: event.type, error: messageOf(error) });
      });
    },
    async 'experimental.session.compacting'({ sessionID }, { context: output }) {
      const state = openLoop(env, sessionID);
      if (state !== null) output.push(reminderMessage(state));
    },
    async dispose() {
      driver.dispose();
    },
  };
}

/** Carries a command out and returns the text that the model gets in its place. */
async function runCommand(parts: PluginParts, command: Command): Promise<string> {
  const { host, context, driver, toasts } = parts;
  const { name, sessionId, promptId } = command;
  const before = openLoop(context.env, sessionId);
  const isQuick = name === 'cancel-ralph' || name === 'ralph-status';
  const messages = isQuick ? [] : await host.getMessages(sessionId).then(readMessages, () => []);
  const session = readSession(messages);
  const readTurn = (from: TranscriptMark) => session.readTurn(from, null);
  const reply = isStart(name)
    ? startLoop(parts, { ...command, name })
    : controlLoop({ control: name, sessionId, promptId, readTurn, cwd: parts.directory }, context);
  if (reply.kind !== 'context') return answerText(parts, name, reply, before);
  // The new turn begins after the messages that are there.
  const state = openLoop(context.env, sessionId);
  driver.forget(sessionId);
  if (state) updateSessionLoop(context, state, { transcript: session.mark });
  if (state && isStart(name)) toasts.started(loopFacts(state));
  else if (reply.notice !== undefined) toasts.notice(reply.notice);
  return reply.message;
}

function startLoop(parts: PluginParts, { name, ...event }: Command & { readonly name: StartName }): Reply {
  const { directory: cwd, surroundings, context } = parts;
  const command = parseLoopCommand(event.args);
  if (!isOneShot(surroundings.argv) || !command.ok) {
    const start = { ...event, host: 'opencode', command: name, cwd, transcriptPath: null };
    return startSessionLoop(start, context);
  }
  surroundings.warn(`ralph-loop: ${endsEarly}`);
  parts.toasts.warning('No Ralph Loop', endsEarly);
  return { kind: 'context', message: command.task };
}

function answerText({ toasts }: PluginParts, name: CommandName, reply: Reply, before: SessionLoop | null) {
  const text = reply.kind === 'answer' ? reply.message : `/${name}: nothing to do.`;
  if (name !== 'cancel-ralph') toasts.notice(text);
  else if (before === null) toasts.noLoop();
  else toasts.cancelled(loopFacts(before));
  // The model repeats this text: it must not hold the marker, which would be a claim.
  return answer(text.replaceAll(/<promise>([^<]*)<\/promise>/g, 'promise "$1"'));
}

async function handleEvent(
  driver: OpenCodeDriver,
  event: string,
  properties: Readonly<Record<string, unknown>>,
): Promise<void> {
  const sessionId = sessionOfEvent(properties);
  if (sessionId === undefined) return;
  if (event === 'session.idle') return driver.idle(sessionId);
  if (event === 'session.deleted') return driver.end(sessionId, 'the session was deleted');
  const { aborted, text } = readHostError(properties.error);
  if (aborted) driver.end(sessionId, 'you aborted the turn');
  else driver.failed(sessionId, text);
}

const handledEvents = new Set(['session.idle', 'session.error', 'session.deleted']);

/** True for a second copy of the plugin, which would prompt twice. All plugins of an OpenCode get one client. */
function isSecond(client: object): boolean {
  const key = Symbol.for('ralphkit.opencode');
  const value: unknown = Reflect.get(globalThis, key);
  const clients = value instanceof WeakSet ? value : new WeakSet<object>();
  if (clients.has(client)) return true;
  Reflect.set(globalThis, key, clients.add(client));
  return false;
}

const openCodeCommands = new Set(['run', 'serve', 'web', 'attach', 'acp', 'tui', 'github', 'debug']);

/** `opencode run` is the whole server, and ends with the first turn; `run --attach` never loads a plugin. */
function isOneShot(argv: readonly string[]): boolean {
  return argv.slice(2).find((word) => openCodeCommands.has(word)) === 'run';
}

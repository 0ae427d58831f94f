import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../core/error.ts';
import { isObject } from '../../../core/json.ts';
import { readSessionLoop, updateSessionLoop } from '../../../store/session-loops.ts';
import { type Clock, systemClock } from '../../../system/clock.ts';
import { parseLoopCommand } from '../../command-line.ts';
import type { SessionContext } from '../../context.ts';
import { controlLoop } from '../../control.ts';
import { readHostError, sessionOfEvent } from '../../embed/host-event.ts';
import { readMessages } from '../../embed/messages.ts';
import { reminderMessage } from '../../messages.ts';
import type { Reply } from '../../reply.ts';
import { startSessionLoop } from '../../start.ts';
import { createHost } from './client.ts';
import { addCommands, answer, type CommandName, isStart, say } from './commands.ts';
import { createDriver } from './driver.ts';
import { toolGuard } from './guard.ts';
import { lookAt } from './turn.ts';
import type { PluginHooks, PluginInput } from './types.ts';

/** The process around the plugin. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argv: readonly string[];
  readonly clock: Clock;
  warn(line: string): void;
};

/** Five failures in a row are an outage. */
const maxFailures = 5;

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

export function createPlugin({ client, directory }: PluginInput, around: Surroundings): PluginHooks {
  const { env, argv, clock } = around;
  const host = createHost(client, directory);
  const context: SessionContext = {
    env,
    now: () => clock.now(),
    driver: dirname(fileURLToPath(import.meta.url)),
    version: __VERSION__,
  };
  const driver = createDriver({ host, context, clock });
  let names: readonly CommandName[] = [];
  let commands = 0;

  /** What the model is told in place of the command. */
  async function run(name: CommandName, sessionId: string, args: string): Promise<string> {
    const before =
      name === 'ralph-resume' || isStart(name) ? await host.getMessages(sessionId).catch(() => []) : [];
    const promptId = `${clock.now()}-${++commands}`;
    const reply = isStart(name)
      ? start(name, sessionId, args, promptId)
      : controlLoop({ control: name, sessionId, promptId }, context);
    if (reply.kind !== 'context') return tell(name, reply);
    // What was said before is no part of the turn that begins.
    const state = driver.loopOf(sessionId);
    driver.forget(sessionId);
    if (state) updateSessionLoop(env, state, { transcript: lookAt(readMessages(before)).mark });
    if (reply.notice !== undefined) toast('Ralph Loop', reply.notice, 'info');
    return reply.message;
  }

  function start(name: 'ralph-loop' | 'ulw-loop', sessionId: string, args: string, promptId: string): Reply {
    const event = { host: 'opencode', sessionId, command: name, args, cwd: directory, promptId };
    const parsed = parseLoopCommand(args);
    if (!isOneShot(argv) || !parsed.ok) {
      return startSessionLoop({ ...event, transcriptPath: null, firstIteration: 1, maxFailures }, context);
    }
    around.warn(`ralph-loop: ${endsEarly}`);
    toast('No Ralph Loop', endsEarly, 'warning');
    return { kind: 'context', message: parsed.task };
  }

  function tell(name: CommandName, reply: Reply): string {
    const text = reply.kind === 'answer' ? reply.message : `/${name}: nothing to do.`;
    toast('Ralph Loop', text, 'info');
    // The model says this text itself: it must not hold the tag that it claims to be done with.
    return answer(text.replaceAll(/<promise>([^<]*)<\/promise>/g, 'promise "$1"'));
  }

  function toast(title: string, message: string, variant: 'info' | 'warning'): void {
    host.showToast({ title, message, variant, duration: 8000 });
  }

  async function pass(event: string, properties: Readonly<Record<string, unknown>>): Promise<void> {
    const sessionId = sessionOfEvent(properties);
    if (sessionId === undefined) return;
    if (event === 'session.idle') return driver.idle(sessionId);
    if (event === 'session.deleted') return driver.end(sessionId, 'the session was deleted');
    const { aborted, text } = readHostError(properties.error);
    if (aborted) driver.end(sessionId, 'you aborted the turn');
    else driver.failed(sessionId, text);
  }

  return {
    async config(given) {
      names = addCommands(given);
    },
    async 'command.execute.before'({ command, sessionID, arguments: raw }, { parts }) {
      const name = names.find((known) => known === command);
      if (name === undefined) return;
      say(parts, await run(name, sessionID, raw));
    },
    'tool.execute.before': toolGuard(directory, env, context.now),
    async 'chat.message'({ sessionID }) {
      driver.userWrote(sessionID);
    },
    async event({ event }) {
      if (!passed.has(event.type) || !isObject(event.properties)) return;
      await pass(event.type, event.properties).catch((error: unknown) => {
        host.log.error('An event could not be handled', { event: event.type, error: messageOf(error) });
      });
    },
    async 'experimental.session.compacting'({ sessionID }, { context: told }) {
      const read = readSessionLoop(env, sessionID);
      if (read.kind === 'loop') told.push(reminderMessage(read.state));
    },
    async dispose() {
      driver.dispose();
    },
  };
}

const passed = new Set(['session.idle', 'session.error', 'session.deleted']);

/** All plugins of an OpenCode get one client. A second copy of ours, from whichever folder, would prompt twice. */
function isSecond(client: object): boolean {
  const key = Symbol.for('ralphkit.opencode');
  const seen: unknown = Reflect.get(globalThis, key);
  const clients = seen instanceof WeakSet ? seen : new WeakSet<object>();
  if (clients.has(client)) return true;
  Reflect.set(globalThis, key, clients.add(client));
  return false;
}

const openCodeCommands = new Set(['run', 'serve', 'web', 'attach', 'acp', 'tui', 'github', 'debug']);

/** `opencode run` is the whole server, and ends with the first turn; `run --attach` never loads a plugin. */
function isOneShot(argv: readonly string[]): boolean {
  return argv.slice(2).find((word) => openCodeCommands.has(word)) === 'run';
}

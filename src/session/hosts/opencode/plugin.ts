import { join } from 'node:path';
import { messageOf } from '../../../core/error.ts';
import { isObject } from '../../../core/shape.ts';
import { stateFolder } from '../../../store/paths.ts';
import { type Clock, systemClock } from '../../../system/clock.ts';
import { parseLoopCommand } from '../../command-line.ts';
import { createRalphLoopHook } from '../../embed/hook.ts';
import { createHost } from './client.ts';
import {
  addCommands,
  answer,
  type CommandName,
  reminder,
  say,
  startOptions,
  startPrompt,
} from './commands.ts';
import { toolGuard } from './guard.ts';
import type { PluginHooks, PluginInput } from './types.ts';

/** The process around the plugin. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argv: readonly string[];
  readonly clock: Clock;
  warn(line: string): void;
};

type LoopHook = ReturnType<typeof createRalphLoopHook>;

/** Three turns without a tool call are a conversation, five failures in a row an outage. */
const config = { maxTurnsWithoutTools: 3, maxFailures: 5 };

const endsEarly =
  'opencode run ends when the session is idle for the first time, so no loop is started: the task is worked on once. ' +
  'Take the TUI, opencode serve, or ralph run --agent opencode.';

/** The OpenCode plugin: /ralph-loop, /ulw-loop and /cancel-ralph. */
export async function RalphLoop(input: PluginInput): Promise<PluginHooks> {
  return createPlugin(input, {
    env: process.env,
    argv: process.argv,
    clock: systemClock,
    warn: (line) => void process.stderr.write(`${line}\n`),
  });
}

export function createPlugin(input: PluginInput, around: Surroundings): PluginHooks {
  const host = createHost(input.client, input.directory);
  const hooks = new Map<string, LoopHook>();
  let names: readonly CommandName[] = [];

  /** One hook and one state for each session: the loops of two sessions do not meet. */
  function hookOf(sessionId: string): LoopHook {
    const folder = sessionId.replace(/[^\w-]/g, '_');
    return (
      hooks.get(sessionId) ??
      createRalphLoopHook({
        ...host,
        clock: around.clock,
        workdir: input.directory,
        config: { ...config, stateDir: join(stateFolder(around.env), 'opencode', folder) },
      })
    );
  }

  /** The hook of a session with a loop, perhaps from before a restart. */
  function loopIn(sessionId: string): LoopHook | null {
    const hook = hookOf(sessionId);
    if (hook.isLoopActive(sessionId)) hooks.set(sessionId, hook);
    else hooks.delete(sessionId);
    return hooks.get(sessionId) ?? null;
  }

  function start(name: CommandName, sessionId: string, raw: string): string {
    const parsed = parseLoopCommand(raw);
    if (!parsed.ok) return refuse(parsed.message);
    const options = startOptions(name, parsed.options);
    if (typeof options === 'string') return refuse(options);
    const running = loopIn(sessionId)?.getState(sessionId);
    if (running) {
      return refuse(`One is at iteration ${running.iteration} in this session; /cancel-ralph ends it.`);
    }
    const prompt = startPrompt(parsed.task, parsed.options.completionPromise, options.instruction);
    if (isOneShot(around.argv)) {
      around.warn(`ralph-loop: ${endsEarly}`);
      host.log.warn(endsEarly);
      host.showToast({ title: 'No Ralph Loop', message: endsEarly, variant: 'warning', duration: 10_000 });
      return prompt;
    }
    const hook = hookOf(sessionId);
    hooks.set(sessionId, hook);
    return hook.startLoop(sessionId, parsed.task, options) ? prompt : refuse('Its state cannot be written.');
  }

  function refuse(why: string): string {
    const message = `Ralph loop not started. ${why}`;
    host.showToast({ title: 'Ralph Loop', message, variant: 'error', duration: 8000 });
    return answer(message);
  }

  function cancel(sessionId: string): string {
    const iteration = loopIn(sessionId)?.getState(sessionId)?.iteration;
    if (hookOf(sessionId).cancelLoop(sessionId))
      return answer(`Ralph loop cancelled at iteration ${iteration}.`);
    host.showToast({
      title: 'No Active Loop',
      message: 'No Ralph Loop is currently running',
      variant: 'info',
    });
    return answer('No Ralph loop is running in this session.');
  }

  async function pass(event: string, properties: Readonly<Record<string, unknown>>): Promise<void> {
    const info = isObject(properties.info) ? properties.info.id : undefined;
    const sessionId = [properties.sessionID, info].find((id) => typeof id === 'string');
    if (typeof sessionId !== 'string') return;
    await loopIn(sessionId)?.handler({ event, sessionId, data: properties });
  }

  return {
    async config(given) {
      names = addCommands(given);
    },
    async 'command.execute.before'({ command, sessionID, arguments: raw }, { parts }) {
      const name = names.find((known) => known === command);
      if (name === undefined) return;
      say(parts, name === 'cancel-ralph' ? cancel(sessionID) : start(name, sessionID, raw));
    },
    'tool.execute.before': toolGuard(input.directory, around.env, () => around.clock.now()),
    async 'chat.message'({ sessionID }) {
      await hooks.get(sessionID)?.handler({ event: 'user.message', sessionId: sessionID });
    },
    async event({ event }) {
      if (!passed.has(event.type) || !isObject(event.properties)) return;
      await pass(event.type, event.properties).catch((error: unknown) => {
        host.log.error('An event could not be handled', { event: event.type, error: messageOf(error) });
      });
    },
    async 'experimental.session.compacting'({ sessionID }, { context }) {
      const state = loopIn(sessionID)?.getState(sessionID);
      if (state) context.push(reminder(state));
    },
    async dispose() {
      for (const hook of hooks.values()) hook.dispose();
      hooks.clear();
    },
  };
}

const passed = new Set(['session.idle', 'session.error', 'session.deleted']);

/** `opencode run` is the whole server, and ends with the first turn; `run --attach` never loads a plugin. */
function isOneShot(argv: readonly string[]): boolean {
  return argv.slice(2).find((word) => !word.startsWith('-')) === 'run';
}

import { systemClock } from '../clock.ts';
import type { Environment } from '../process/process.ts';
import { withoutMarks } from '../process/process-table.ts';
import { findProgram } from '../process/program.ts';
import { paneFormat, readPanes, type Screens, type Tmux, tmuxArgv, tmuxServer } from './tmux.ts';
import { attachClient, type TmuxClient } from './tmux-client.ts';

export type LastingTmux = Tmux & { close(): void };

/** After a client was lost, or could not be had: tmux knows the flags since 3.2. */
const retryMs = 60_000;

/** For fewer screens a call is cheap enough, and people see no client that is none of theirs. */
const manyScreens = 16;

/**
 * A tmux server for whoever looks at many screens again and again: one client stays attached. Without it, each look is a
 * call.
 */
export function lastingTmux(socket: string | null, env: Environment, many = manyScreens): LastingTmux {
  const calls = tmuxServer(socket, env);
  const { TMUX: _, TMUX_PANE: __, ...outside } = withoutMarks(env);
  const setpriv = process.platform === 'linux' ? findProgram('setpriv', env) : null;
  let client: TmuxClient | null = null;
  let retryAt = 0;

  /**
   * It attaches to a session, but has no say in the size of its windows and hears nothing of what they show. It has to die
   * with us: tmux keeps a client for ever that it cannot write to, and with it a server that was told to end.
   */
  function attach(session: string): void {
    const now = systemClock.monotonic();
    if (setpriv === null || client?.isOpen() || now < retryAt) return;
    retryAt = now + retryMs;
    const words = ['attach-session', '-E', '-f', 'no-output,ignore-size', '-t', `=${session}:`];
    const [program, ...rest] = tmuxArgv(socket, words);
    try {
      client = attachClient([setpriv, '--pdeathsig', 'KILL', program, '-C', ...rest], outside);
    } catch {
      // No more processes or files are to be had.
      client = null;
    }
  }

  async function ask(wanted: readonly string[]): Promise<Screens | null> {
    const captures = wanted.map((id) => `capture-pane -p -t '${id}'`);
    const answers = await client?.ask([`list-panes -a -F '${paneFormat}'`, ...captures]);
    const [list, ...texts] = answers ?? [];
    if (typeof list !== 'string') return null;
    const screens = wanted.flatMap((id, at) => {
      const text = texts[at];
      return typeof text === 'string' ? [[id, text] as const] : [];
    });
    return { panes: readPanes(list), screens: new Map(screens) };
  }

  return {
    ...calls,
    panes: async () => (await ask([]))?.panes ?? calls.panes(),
    async screens(wanted) {
      const asked = await ask(wanted);
      if (asked !== null) return asked;
      const called = await calls.screens(wanted);
      const ours = called.panes.find(({ id }) => wanted.includes(id));
      if (ours !== undefined && wanted.length >= many) attach(ours.session);
      return called;
    },
    close: () => client?.close(),
  };
}

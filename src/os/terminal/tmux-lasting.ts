import { systemClock } from '../clock.ts';
import type { Environment } from '../process/process.ts';
import { withoutMarks } from '../process/process-table.ts';
import { findProgram } from '../process/program.ts';
import { paneFormat, readPanes, type Screens, type Tmux, tmuxArgv, tmuxServer } from './tmux.ts';
import { attachClient, type TmuxClient } from './tmux-client.ts';

export type LastingTmux = Tmux & { close(): void };

/** Pause after a client was lost or did not attach: tmux knows the flags since 3.2. */
const retryMs = 60_000;

/** For fewer screens a call is cheap enough, and people see no foreign client. */
const manyScreens = 16;

/**
 * A tmux server for looking at many screens again and again: one client stays attached. With 200 busy workers, a call
 * for each look takes two thirds more of the processor.
 */
export function lastingTmux(socket: string | null, env: Environment, many = manyScreens): LastingTmux {
  const calls = tmuxServer(socket, env);
  const { TMUX: _, TMUX_PANE: __, ...outside } = withoutMarks(env);
  const setpriv = process.platform === 'linux' ? findProgram('setpriv', env) : null;
  let client: TmuxClient | null = null;
  let retryAt = 0;

  /**
   * Attaches without a say in the size of windows and without their output. The client has to die with us: tmux keeps
   * one for ever that it cannot write to, and with it a server that was told to end.
   */
  function attach(session: string): void {
    const now = systemClock.monotonic();
    if (setpriv === null || client?.isOpen() || now < retryAt) return;
    retryAt = now + retryMs;
    const words = ['attach-session', '-E', '-f', 'no-output,ignore-size', '-t', `=${session}:`];
    const [program, ...args] = tmuxArgv(socket, words);
    client = attachClient([setpriv, '--pdeathsig', 'KILL', program, '-C', ...args], outside);
  }

  async function ask(ids: readonly string[]): Promise<Screens | null> {
    const captures = ids.map((id) => `capture-pane -p -t '${id}'`);
    const answers = await client?.ask([`list-panes -a -F '${paneFormat}'`, ...captures]);
    const [list, ...texts] = answers ?? [];
    if (typeof list !== 'string') return null;
    const screens = ids.flatMap((id, at) => {
      const text = texts[at];
      return typeof text === 'string' ? [[id, text] as const] : [];
    });
    return { panes: readPanes(list), screens: new Map(screens) };
  }

  return {
    ...calls,
    panes: async () => (await ask([]))?.panes ?? calls.panes(),
    async screens(ids) {
      const answer = await ask(ids);
      if (answer !== null) return answer;
      const result = await calls.screens(ids);
      const ours = result.panes.find(({ id }) => ids.includes(id));
      if (ours !== undefined && ids.length >= many) attach(ours.session);
      return result;
    },
    close: () => client?.close(),
  };
}

import type { TopView } from '../../fleet/top.ts';
import { runCommand } from '../../os/process/process.ts';
import { type Argv, runInForeground } from '../../os/process/spawn.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { layoutTop, type TopState, textTop } from '../../show/terminal/fleet-top.ts';
import { type FullScreenControl, runFullScreen } from '../kernel/full-screen.ts';
import { isInteractive, styleOf } from '../kernel/output.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { withFleet } from './local-fleet.ts';
import type { topOptions } from './options.ts';

const commands: Readonly<Record<string, readonly string[]>> = {
  a: ['attach'],
  l: ['logs', '--follow'],
  p: ['ralph', 'pause'],
  r: ['ralph', 'resume'],
  k: ['kill'],
};

const pollMs = 1000;
const empty: TopView = { rows: [], running: 0, maxParallel: null, accountsAtLimit: [], undriven: false };

/** Shows the table of all workers: live in a terminal, once elsewhere. */
export function main(context: Context, { values }: Input<typeof topOptions>): Promise<number> {
  return withFleet(context, values, async (fleet) => {
    if (values.once || !isInteractive(context)) {
      context.stdout.write(cleanTerminal(textTop(await fleet.top())));
      return 0;
    }
    return live(
      context,
      () => fleet.top(),
      values.cluster === undefined ? [] : ['--cluster', values.cluster],
    );
  });
}

function live(context: Context, ask: () => Promise<TopView>, more: readonly string[]): Promise<number> {
  const style = styleOf(context);
  let view = empty;
  let state: TopState = { selected: null, message: '' };
  /** The command of `k` after its first press: it ends something, and has to be pressed twice. */
  let armed = '';
  const look = async () => {
    view = await ask();
    if (!view.rows.some(({ name }) => name === state.selected)) {
      state = { ...state, selected: view.rows[0]?.name ?? null };
    }
  };
  const say = (message: string) => {
    state = { ...state, message: cleanTerminal(message).replace(/\s+/g, ' ') };
  };

  function press(key: string, control: FullScreenControl): void {
    const step = { '\x1b[A': -1, '\x1bOA': -1, '\x1b[B': 1, '\x1bOB': 1 }[key];
    const words = commands[key];
    if (key === 'q' || key === '\x03') control.end(0);
    else if (step !== undefined) select(step);
    else if (words !== undefined && state.selected !== null)
      order(key, [...words, state.selected, ...more], control);
  }

  function order(key: string, words: readonly string[], control: FullScreenControl): void {
    const text = `$ swarm ${words.join(' ')}`;
    const isSure = key !== 'k' || armed === text;
    armed = isSure ? '' : text;
    say(isSure ? text : `k once more: ${text}`);
    const argv = [...programCommand('swarm'), ...words] as const;
    if (key === 'a' || key === 'l') void control.lend(() => runInForeground(argv, context));
    else if (isSure) void run(argv, text, control);
  }

  function select(step: number): void {
    const at = view.rows.findIndex(({ name }) => name === state.selected);
    const next = view.rows[Math.max(0, Math.min(view.rows.length - 1, at + step))];
    armed = '';
    state = { selected: next?.name ?? null, message: '' };
  }

  async function run(argv: Argv, text: string, control: FullScreenControl): Promise<void> {
    const { stdout, stderr } = await runCommand(argv, { cwd: context.cwd, env: context.env });
    say(`${text}   ${stdout || stderr}`);
    await look();
    control.redraw();
  }

  const lines = (size: { columns: number; rows: number }) => layoutTop(view, state, size, style);
  return runFullScreen(context, { pollMs, look, lines, key: press });
}

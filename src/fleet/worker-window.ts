import type { Environment } from '../os/process/program.ts';
import type { Pane, Tmux, WindowSpec } from '../os/terminal/tmux.ts';
import type { Delivery } from './delivery.ts';
import { signalPaths, workerRunId } from './files/paths.ts';
import { isShellName, workerEnvironment, writeStart } from './files/signal-files.ts';
import type { TmuxPlace, Worker } from './files/workers.ts';

/**
 * Shell script in the window of a worker. User text comes as arguments only; the environment and the command come from a
 * file, since others can read arguments. Variables of the tmux server go, but those of the pane. It writes a file at the
 * start and one with the exit code at the end (after Ctrl-C, too), which tmux does not always know. The sleep is for tmux
 * 3.3a, which on a busy machine loses output that was printed just before the terminal closes.
 */
const script = `
swarm_started=$1 swarm_ended=$2 swarm_launch=$3 swarm_how=$4 swarm_prompt=$5 swarm_start=$6
shift 6
for swarm_name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $swarm_name in
    TERM | TERM_* | COLORTERM | TMUX | TMUX_* | PWD | SHLVL | _ | SWARM_WORKER | RALPH_RUN_ID | RALPH_ITERATION | swarm_*) ;;
    *) unset "$swarm_name" ;;
  esac
done
. "$swarm_start"
leave() { printf '%s\\n' "$2" >"$1.$$" && mv -f "$1.$$" "$1"; }
trap : INT QUIT
leave "$swarm_started" "$swarm_launch"
case $swarm_how in
  stdin) "$@" <"$swarm_prompt" ;;
  argument) "$@" "$(cat "$swarm_prompt")" ;;
  *) "$@" ;;
esac
swarm_code=$?
sleep 0.1
leave "$swarm_ended" "$swarm_launch $swarm_code"
exit "$swarm_code"
`;

/** Worker that a pane belongs to, and the number of its start (0 if it is no loop). */
export type PaneOwner = { readonly name: string; readonly launch: number; readonly prompted: boolean };

export type Input = {
  readonly iteration: number;
  readonly launch: number;
  readonly delivery: Delivery;
  readonly prompt: string;
};

/** Returns the window of a worker. Without an input it is no loop, and reads the keyboard. */
export function windowFor(
  env: Environment,
  worker: Pick<Worker, 'name' | 'cmd' | 'cwd' | 'env'> & { readonly tmux: TmuxPlace },
  input: Input | null,
): WindowSpec {
  const { name, cmd, cwd, tmux } = worker;
  const signals = signalPaths(env, name);
  const delivery = input?.delivery ?? { how: 'paste' as const };
  const before = delivery.how === 'argument' ? delivery.before : [];
  const launch = input?.launch ?? 0;
  const start = writeStart(env, name, workerEnvironment(env, worker), cmd);
  const words = [signals.started, signals.ended, String(launch), delivery.how, input?.prompt ?? '', start];
  const odd = Object.entries(worker.env).filter(([variable]) => !isShellName(variable));
  return {
    session: tmux.session,
    window: tmux.window,
    cwd,
    env: {
      ...Object.fromEntries(odd),
      SWARM_WORKER: name,
      RALPH_RUN_ID: workerRunId(env, name),
      RALPH_ITERATION: String(input?.iteration ?? 0),
    },
    argv: ['sh', '-c', script, 'swarm', ...words, ...before],
    label: ownerLabel(env, { name, launch, prompted: delivery.how !== 'paste' }),
  };
}

/** Returns the label of a pane. It names the fleet, too: two fleets may share a tmux server. */
export function ownerLabel(env: Environment, { name, launch, prompted }: PaneOwner): string {
  return `${workerRunId(env, name)} ${launch}${prompted ? ' prompted' : ''}`;
}

/** Reads the label of a pane; null if it is not of a worker of this fleet. */
export function readOwner(env: Environment, text: string): PaneOwner | null {
  const [id = '', launch, prompted] = text.split(' ');
  const name = id.slice(id.indexOf('/') + 1);
  if (name === '' || id !== workerRunId(env, name)) return null;
  return { name, launch: Number(launch), prompted: prompted === 'prompted' };
}

/** Returns panes by the worker in their label: the name of a window may belong to somebody else. */
export function panesByWorker(env: Environment, panes: readonly Pane[]) {
  const own = panes.flatMap((pane) => {
    const owner = readOwner(env, pane.label);
    return owner === null ? [] : [[owner.name, { ...pane, owner }] as const];
  });
  return new Map(own);
}

export type Typing = {
  /** Clears the line first. A dialog would take that for a no. */
  readonly clear: boolean;
  readonly enter: boolean;
};

/** Types into the window of a worker, as a person would. */
export async function typeText(
  tmux: Tmux,
  pane: string,
  text: string,
  { clear, enter }: Typing,
): Promise<void> {
  // Escape closes completions, which Enter would accept instead of the text.
  if (clear) await tmux.sendKeys(pane, 'Escape', 'C-u');
  await tmux.sendText(pane, text);
  if (enter) await tmux.sendKeys(pane, 'Enter');
}

import type { Environment } from '../os/process/program.ts';
import type { Tmux, WindowSpec } from '../os/terminal/tmux.ts';
import type { Delivery } from './delivery.ts';
import { signalPaths, workerRunId } from './files/paths.ts';
import { writeWords } from './files/signal-files.ts';
import type { TmuxPlace, Worker } from './files/workers.ts';

/**
 * Shell script in the window of a worker. User text comes as arguments only. It writes a file at the start and one with
 * the exit code at the end (after Ctrl-C, too), which tmux does not always know. The sleep is for tmux 3.3a, which on a
 * busy machine loses output that was printed just before the terminal closes.
 */
const script = `
started=$1 ended=$2 launch=$3 how=$4 prompt=$5 words=$6
shift 6
[ -z "$words" ] || . "$words"
leave() { printf '%s\\n' "$2" >"$1.$$" && mv -f "$1.$$" "$1"; }
trap : INT QUIT
leave "$started" "$launch"
case $how in
  stdin) "$@" <"$prompt" ;;
  argument) "$@" "$(cat "$prompt")" ;;
  *) "$@" ;;
esac
code=$?
sleep 0.1
leave "$ended" "$launch $code"
exit "$code"
`;

/** Worker that a pane belongs to, and the number of its start (0 if it is no loop). */
export type PaneOwner = { readonly name: string; readonly launch: number; readonly prompted: boolean };

/** Iteration to run in the window of a loop. */
export type Input = {
  readonly iteration: number;
  readonly launch: number;
  readonly delivery: Delivery;
  /** The file with the prompt. */
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
  const isLong = bytesOf([...cmd, ...Object.entries(worker.env).flat()]) > longestCall;
  // The words of the file come before those of the call.
  const file = isLong ? writeWords(env, name, ['env', '--', ...pairs(worker.env), ...cmd]) : '';
  const words = [signals.started, signals.ended, String(launch), delivery.how, input?.prompt ?? '', file];
  return {
    session: tmux.session,
    window: tmux.window,
    cwd,
    env: {
      ...(env.PATH === undefined ? {} : { PATH: env.PATH }),
      ...(isLong ? {} : worker.env),
      SWARM_WORKER: name,
      RALPH_RUN_ID: workerRunId(env, name),
      RALPH_ITERATION: String(input?.iteration ?? 0),
    },
    argv: ['sh', '-c', script, 'swarm', ...words, ...(isLong ? [] : cmd), ...before],
    label: ownerLabel(env, { name, launch, prompted: delivery.how !== 'paste' }),
  };
}

/** Longest command in a call of tmux, which takes 16 KiB with our own words. */
const longestCall = 8000;

function bytesOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}

function pairs(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
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

/** Options for typing into a window. */
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

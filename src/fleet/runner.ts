import { writeWords } from '../store/fleet-marks.ts';
import { markPaths, workerRunId } from '../store/fleet-paths.ts';
import type { TmuxPlace, Worker } from '../store/fleet-workers.ts';
import type { Environment } from '../system/program.ts';
import type { WindowSpec } from '../system/tmux.ts';
import type { Delivery } from './delivery.ts';

/**
 * Runs in the window of a worker. It holds no text of the user's: that comes in its words. It leaves a mark at the
 * start and one with the exit code at the end, since tmux does not always know that; after Ctrl-C too. The nap is for
 * tmux 3.3a, which on a busy machine loses what a program printed just before its terminal was closed.
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

/** A worker's mark on its pane: the name and the number of the start, which is 0 for one that is no loop. */
export type PaneMark = { readonly name: string; readonly launch: number; readonly prompted: boolean };

/** The iteration that is to run in the window of a loop. */
export type Input = {
  readonly iteration: number;
  readonly launch: number;
  readonly delivery: Delivery;
  /** The file with the prompt. */
  readonly prompt: string;
};

/** What to start in the window of a worker; without an input it is no loop, and has the keyboard for itself. */
export function windowFor(
  env: Environment,
  worker: Pick<Worker, 'name' | 'cmd' | 'cwd' | 'env'> & { readonly tmux: TmuxPlace },
  input: Input | null,
): WindowSpec {
  const { name, cmd, cwd, tmux } = worker;
  const marks = markPaths(env, name);
  const delivery = input?.delivery ?? { how: 'paste' as const };
  const before = delivery.how === 'argument' ? delivery.before : [];
  const launch = input?.launch ?? 0;
  const isLong = bytesOf([...cmd, ...Object.entries(worker.env).flat()]) > longestCall;
  // Before the words that come by the call.
  const file = isLong ? writeWords(env, name, ['env', '--', ...pairs(worker.env), ...cmd]) : '';
  const words = [marks.started, marks.ended, String(launch), delivery.how, input?.prompt ?? '', file];
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
    mark: markText(env, { name, launch, prompted: delivery.how !== 'paste' }),
  };
}

/** tmux takes 16 KiB in one call, our own words included. */
const longestCall = 8000;

function bytesOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}

function pairs(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** The fleet is named too: two fleets may share a tmux server. */
export function markText(env: Environment, { name, launch, prompted }: PaneMark): string {
  return `${workerRunId(env, name)} ${launch}${prompted ? ' prompted' : ''}`;
}

/** The mark on a pane; null where it is not a worker of this fleet. */
export function readMark(env: Environment, text: string): PaneMark | null {
  const [id = '', launch, prompted] = text.split(' ');
  const name = id.slice(id.indexOf('/') + 1);
  if (name === '' || id !== workerRunId(env, name)) return null;
  return { name, launch: Number(launch), prompted: prompted === 'prompted' };
}

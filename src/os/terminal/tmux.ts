import { messageOf, RalphError } from '../../core/error.ts';
import { randomHex } from '../crypto.ts';
import {
  type Argv,
  type CommandResult,
  type Environment,
  findProgram,
  runCommand,
} from '../process/process.ts';
import { withoutMarks } from '../process/process-table.ts';

/** A pane of tmux. `label` is ours; empty on panes of others. */
export type Pane = {
  readonly id: string;
  readonly session: string;
  readonly window: string;
  readonly pid: number;
  readonly tty: string;
  readonly dead: boolean;
  /** tmux 3.3a misses the exit status of one in some fifty panes. */
  readonly exitCode: number | null;
  readonly label: string;
};

export type Screens = { readonly panes: readonly Pane[]; readonly screens: ReadonlyMap<string, string> };

export type WindowSpec = {
  readonly session: string;
  readonly window: string;
  readonly cwd: string;
  /** Others can read these while the window opens. tmux itself sets PATH, to that of its caller. */
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  /** Becomes `Pane.label`, set together with the start, so that no crash comes between the two. */
  readonly label: string;
};

export type Tmux = ReturnType<typeof tmuxServer>;

type TmuxCommand = readonly string[];

const chunkSize = 250;
const timeoutMs = 20_000;
const separator = '\u001f';
/** Format that `readPanes` reads. */
export const paneFormat = [
  '#{pane_id}',
  '#{session_name}',
  '#{window_name}',
  '#{pane_pid}',
  '#{pane_tty}',
  '#{pane_dead}',
  '#{pane_dead_status}',
  '#{@swarm}',
].join(separator);
const listCommand = ['list-panes', '-a', '-F', paneFormat];
/** Wide enough that the text of a dialog stays on one line. */
const windowSize = ['-x', '200', '-y', '50'];

/** Returns the call that passes these commands to a server, each argument literally. */
export function tmuxArgv(socket: string | null, ...commands: readonly TmuxCommand[]): Argv {
  const words = commands.flatMap((command, index) => [
    ...(index === 0 ? [] : [';']),
    ...command.map(literal),
  ]);
  // Without -u and in the C locale, tmux writes an underscore for whatever is not plain ASCII.
  return ['tmux', '-u', ...(socket === null ? [] : ['-L', socket]), ...words];
}

/** tmux takes a semicolon at the end of an argument for the end of the command, unless it is escaped. */
function literal(word: string): string {
  return word.endsWith(';') ? `${word.slice(0, -1)}\\;` : word;
}

/** Calls the server behind a socket name, or the user's own one. */
export function tmuxServer(socket: string | null, env: Environment) {
  // Inside tmux, TMUX would send us to the server around us. A server that we start outlives the run around us.
  const { TMUX: _, TMUX_PANE: __, ...outside } = withoutMarks(env);
  const run = createRun(socket, outside);
  const must = async (commands: readonly TmuxCommand[], stdin?: string): Promise<string> => {
    const result = await run(commands, stdin);
    if (result.exitCode !== 0) throw tmuxFailure(result);
    return result.stdout;
  };
  return {
    /** All panes of the server; none if it does not run. Rejects if tmux does not answer. */
    async panes(): Promise<readonly Pane[]> {
      const result = await run([listCommand]);
      // There are none if tmux is not installed.
      if (result.exitCode === null && findProgram('tmux', outside) !== null) throw tmuxFailure(result);
      return readPanes(result.stdout);
    },
    /** All panes, and the screens of some, in one call for each 250. Rejects if tmux does not answer. */
    async screens(ids: readonly string[]): Promise<Screens> {
      const screens = new Map<string, string>();
      let panes: Pane[] = [];
      for (let at = 0; at < Math.max(1, ids.length); at += chunkSize) {
        panes = await captureScreens(run, ids.slice(at, at + chunkSize), screens);
      }
      return { panes, screens };
    },
    /** The screen with the `history` lines above it. */
    async capture(pane: string, history = 0, withColours = false) {
      const above = history === 0 ? [] : ['-S', `-${history}`];
      const looks = withColours ? ['-e'] : [];
      return (await must([['capture-pane', '-p', ...looks, '-t', pane, ...above]])).split('\n');
    },
    /** Opens a window, and the session if there is none. */
    openWindow: (spec: WindowSpec) => openWindow(run, spec),
    /** Starts a program in a pane and ends the one that runs in it. */
    async respawn(pane: string, spec: WindowSpec) {
      const words = ['-k', '-t', pane, '-c', plain(spec.cwd), ...variablesOf(spec), '--', ...spec.argv];
      const clear = ['clear-history', '-t', pane];
      await must([['respawn-pane', ...words], clear, labelCommand(pane, spec.label)]);
    },
    async killWindow(pane: string) {
      await run([['kill-window', '-t', pane]]);
    },
    /** Keys by their tmux names. */
    async sendKeys(pane: string, ...keys: string[]) {
      await must([['send-keys', '-t', pane, ...keys]]);
    },
    /** Types text literally, never as names of keys. */
    async sendText(pane: string, text: string) {
      for (const part of partsOf(text)) await must([['send-keys', '-t', pane, '-l', '--', part]]);
    },
    /** Pastes text, then Enter, and changes the label of the pane. */
    async paste(pane: string, text: string, label: string) {
      const buffer = `swarm-${process.pid}`;
      await must([['load-buffer', '-b', buffer, '-']], text);
      const words = ['paste-buffer', '-p', '-r', '-d', '-b', buffer, '-t', pane];
      await must([words, labelCommand(pane, label)]);
    },
  };
}

type Run = (commands: readonly TmuxCommand[], stdin?: string) => Promise<CommandResult>;

function createRun(socket: string | null, env: Environment): Run {
  return (commands, stdin) => runCommand(tmuxArgv(socket, ...commands), { cwd: '/', env, timeoutMs, stdin });
}

/** Adds what these panes show to `screens`, and returns all panes. */
async function captureScreens(
  run: Run,
  ids: readonly string[],
  screens: Map<string, string>,
): Promise<Pane[]> {
  const captures = ids.flatMap((id) => [
    // Not the id itself: tmux reads a percent sign here as a part of a date.
    ['display-message', '-p', '-t', id, `${separator}#{pane_id}`],
    ['capture-pane', '-p', '-t', id],
  ]);
  const result = await run([listCommand, ...captures]);
  if (result.exitCode === null) throw tmuxFailure(result);
  const [head = '', ...parts] = result.stdout.split(`\n${separator}`);
  const panes = readPanes(head);
  for (const part of parts) {
    const [id = ''] = part.split('\n', 1);
    if (id !== '') screens.set(id, part.slice(id.length + 1));
  }
  // tmux skips the rest of the commands when one fails because a pane went away between two calls.
  const livingIds = new Set(panes.map(({ id }) => id));
  const missing = ids.filter((id) => livingIds.has(id) && !screens.has(id));
  if (missing.length === 0 || missing.length === ids.length) return panes;
  return captureScreens(run, missing, screens);
}

async function openWindow(run: Run, spec: WindowSpec): Promise<void> {
  // A name like `1` or `a.b` means something else in a target, and may be there twice: until all is set, the
  // window has one of its own. tmux takes the whole list of commands, so that no crash comes between them.
  const birthName = `swarm-${randomHex(16)}`;
  const target = `=${spec.session}:=${birthName}`;
  const window = ['-n', birthName, '-c', plain(spec.cwd), ...variablesOf(spec), '--', ...spec.argv];
  const afterwards = [
    ...keepCommands(target),
    labelCommand(target, spec.label),
    ['rename-window', '-t', target, spec.window],
  ];
  const inSession = ['new-window', '-d', '-a', '-t', `=${spec.session}:{end}`, ...window];
  const alone = ['new-session', '-d', '-s', spec.session, ...windowSize, ...window];
  for (let attempt = 0; ; attempt++) {
    const first = await run([inSession, ...afterwards]);
    if (first.exitCode === 0) return;
    if (!isWithoutSession(first)) throw tmuxFailure(first);
    const second = await run([alone, ...afterwards, ...sessionCommands(spec)]);
    if (second.exitCode === 0) return;
    // Another made the session in between, or the server was just ending.
    const again = /duplicate session|server exited|lost server|no server/.test(second.stderr);
    if (!again || attempt === 20) throw tmuxFailure(second);
  }
}

function sessionCommands(spec: WindowSpec): TmuxCommand[] {
  const session = `=${spec.session}:`;
  return [
    ['set-option', '-t', session, 'default-size', '200x50'],
    // A person may have it on for their own sessions: nobody is attached to this one.
    ['set-option', '-t', session, 'destroy-unattached', 'off'],
    // Later windows would else inherit the variables of the first.
    ...Object.keys(spec.env).map((name) => ['set-environment', '-u', '-t', session, name]),
  ];
}

export function readPanes(text: string): Pane[] {
  return text.split('\n').flatMap((line) => {
    const [id, session, window, pid, tty = '', dead, status = '', label = ''] = line.split(separator);
    if (id === undefined || !/^%\d+$/.test(id) || session === undefined || window === undefined) return [];
    const exitCode = status === '' ? null : Number(status);
    return [{ id, session, window, pid: Number(pid), tty, dead: dead === '1', exitCode, label }];
  });
}

function variablesOf({ env }: WindowSpec): string[] {
  return Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
}

/** Escapes a folder: tmux reads formats in it, even commands to run. It leaves `#[` alone. */
function plain(folder: string): string {
  return folder.replace(/#+(?![#[])/g, (run) => run + run);
}

/** tmux takes no more than 16 KiB in one call. */
const longestText = 2000;

function partsOf(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${longestText}}`, 'gu')) ?? [];
}

/** Keeps the output of a program that has ended, and the name of its window. */
function keepCommands(target: string): TmuxCommand[] {
  const options = [
    ['remain-on-exit', 'on'],
    // Without it tmux writes its own text over the last screen. Since tmux 3.3.
    ['remain-on-exit-format', ''],
    ['allow-rename', 'off'],
  ];
  return options.map((option) => ['set-option', '-wq', '-t', target, ...option]);
}

function labelCommand(target: string, label: string): TmuxCommand {
  return ['set-option', '-p', '-t', target, '@swarm', label];
}

function isWithoutSession({ stderr }: CommandResult): boolean {
  return /can't find (session|window)|no server running|error connecting|no current|server exited|lost server/.test(
    stderr,
  );
}

function tmuxFailure({ stderr, error, timedOut }: CommandResult): RalphError {
  const output = stderr.trim() || (error === undefined ? '' : messageOf(error));
  const why = timedOut ? 'tmux did not answer' : output || 'tmux gave no reason';
  return new RalphError('tmux', why, { exitCode: 1, cause: error });
}

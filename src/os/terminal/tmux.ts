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

/** A pane as tmux tells of it. `label` is what we put on it; empty on panes that are not ours. */
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
  /** A PATH among them is also that by which `argv` is found. */
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  /** Found again in `Pane.label`: it is set together with the start, so that no crash comes between the two. */
  readonly label: string;
};

/** One tmux server. */
export type Tmux = {
  /** All panes of the server; none when it does not run. Rejects where tmux does not answer. */
  panes(): Promise<readonly Pane[]>;
  /** The panes and what the wanted ones show, in one call for each 250. Rejects where tmux does not answer. */
  screens(wanted: readonly string[]): Promise<Screens>;
  /** The screen with the `history` lines above it. */
  capture(pane: string, history?: number, withColours?: boolean): Promise<string[]>;
  /** Opens a window, and the session where there is none. */
  openWindow(spec: WindowSpec): Promise<void>;
  /** Starts a program in a pane that is there; what ran in it is ended. */
  respawn(pane: string, spec: WindowSpec): Promise<void>;
  killWindow(pane: string): Promise<void>;
  /** Keys by their tmux names. */
  sendKeys(pane: string, ...keys: string[]): Promise<void>;
  /** Text as it stands, never read as names of keys. */
  sendText(pane: string, text: string): Promise<void>;
  /** Text all at once, as a paste does, then Enter; the label of the pane changes with it. */
  paste(pane: string, text: string, label: string): Promise<void>;
};

/** One command of tmux with its words. */
type TmuxCommand = readonly string[];

const chunkSize = 250;
const timeoutMs = 20_000;
const separator = '\u001f';
/** What `readPanes` reads. */
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
/** Wide enough that the words of a dialog stay on one line. */
const windowSize = ['-x', '200', '-y', '50'];

/** The call that gives these commands to a server, each word as it is. */
export function tmuxArgv(socket: string | null, ...commands: readonly TmuxCommand[]): Argv {
  const words = commands.flatMap((command, index) => [
    ...(index === 0 ? [] : [';']),
    ...command.map(literal),
  ]);
  // Without -u and in the C locale, tmux writes an underscore for whatever is not plain ASCII.
  return ['tmux', '-u', ...(socket === null ? [] : ['-L', socket]), ...words];
}

/** tmux takes a semicolon at the end of any word for the end of the command, unless a backslash stands before it. */
function literal(word: string): string {
  return word.endsWith(';') ? `${word.slice(0, -1)}\\;` : word;
}

/** The server behind a socket name, or the user's own one. */
export function tmuxServer(socket: string | null, env: Environment): Tmux {
  // Inside tmux, TMUX would send us to the server around us. A server that we start outlives the run around us.
  const { TMUX: _, TMUX_PANE: __, ...outside } = withoutMarks(env);
  const run = (commands: readonly TmuxCommand[], more: Call = {}): Promise<CommandResult> => {
    const { path, stdin } = more;
    const [program, ...words] = tmuxArgv(socket, ...commands);
    // Found by our own PATH, whatever the pane is to have.
    const found = path === undefined ? program : (findProgram(program, outside) ?? program);
    return runCommand([found, ...words], {
      cwd: '/',
      env: path === undefined ? outside : { ...outside, PATH: path },
      timeoutMs,
      ...(stdin === undefined ? {} : { stdin }),
    });
  };
  const must = async (commands: readonly TmuxCommand[], more: Call = {}): Promise<string> => {
    const result = await run(commands, more);
    if (result.exitCode !== 0) throw tmuxFailure(result);
    return result.stdout;
  };
  const list = ['list-panes', '-a', '-F', paneFormat];

  async function screensOf(chunk: readonly string[], into: Map<string, string>): Promise<Pane[]> {
    let wanted = chunk;
    for (;;) {
      const captures = wanted.flatMap((id) => [
        // Not the id itself: tmux reads a percent sign here as a part of a date.
        ['display-message', '-p', '-t', id, `${separator}#{pane_id}`],
        ['capture-pane', '-p', '-t', id],
      ]);
      const result = await run([list, ...captures]);
      if (result.exitCode === null) throw tmuxFailure(result);
      const [head = '', ...rest] = result.stdout.split(`\n${separator}`);
      const panes = readPanes(head);
      for (const part of rest) {
        const [id = ''] = part.split('\n', 1);
        if (id !== '') into.set(id, part.slice(id.length + 1));
      }
      // tmux leaves the rest of the commands when one fails: a pane went away between two calls.
      const living = new Set(panes.map(({ id }) => id));
      const left = wanted.filter((id) => living.has(id) && !into.has(id));
      if (left.length === 0 || left.length === wanted.length) return panes;
      wanted = left;
    }
  }

  return {
    async panes() {
      const result = await run([list]);
      // Where tmux is not installed, there are none.
      if (result.exitCode === null && findProgram('tmux', outside) !== null) throw tmuxFailure(result);
      return readPanes(result.stdout);
    },
    async screens(wanted) {
      const screens = new Map<string, string>();
      let panes: Pane[] = [];
      for (let at = 0; at < Math.max(1, wanted.length); at += chunkSize) {
        panes = await screensOf(wanted.slice(at, at + chunkSize), screens);
      }
      return { panes, screens };
    },
    async capture(pane, history = 0, withColours = false) {
      const above = history === 0 ? [] : ['-S', `-${history}`];
      const looks = withColours ? ['-e'] : [];
      return (await must([['capture-pane', '-p', ...looks, '-t', pane, ...above]])).split('\n');
    },
    async openWindow(spec) {
      // A name like `1` or `a.b` means something else in a target, and may be there twice: until all is set, the
      // window has one of its own. tmux takes the whole list of commands, so that no crash comes between them.
      const birthName = `swarm-${randomHex(16)}`;
      const target = `=${spec.session}:=${birthName}`;
      const { path, variables } = environmentOf(spec);
      const named = ['-n', birthName, '-c', plain(spec.cwd), ...variables, '--', ...spec.argv];
      const kept = [
        ...keepCommands(target),
        labelCommand(target, spec.label),
        ['rename-window', '-t', target, spec.window],
      ];
      const inSession = ['new-window', '-d', '-a', '-t', `=${spec.session}:{end}`, ...named];
      const alone = ['new-session', '-d', '-s', spec.session, ...windowSize, ...named];
      const session = `=${spec.session}:`;
      const lasting = [
        ['set-option', '-t', session, 'default-size', '200x50'],
        // A person may have it on for the sessions of their own: nobody is attached to this one.
        ['set-option', '-t', session, 'destroy-unattached', 'off'],
        // What the first window was given would else be in all that come after it.
        ...Object.keys(spec.env).map((name) => ['set-environment', '-u', '-t', session, name]),
      ];
      for (let attempt = 0; ; attempt++) {
        const first = await run([inSession, ...kept], path);
        if (first.exitCode === 0) return;
        if (!isWithoutSession(first)) throw tmuxFailure(first);
        const second = await run([alone, ...kept, ...lasting], path);
        if (second.exitCode === 0) return;
        // Another made the session in between, or the server was just going.
        const again = /duplicate session|server exited|lost server|no server/.test(second.stderr);
        if (!again || attempt === 20) throw tmuxFailure(second);
      }
    },
    async respawn(pane, spec) {
      const { path, variables } = environmentOf(spec);
      const words = ['-k', '-t', pane, '-c', plain(spec.cwd), ...variables, '--', ...spec.argv];
      const clear = ['clear-history', '-t', pane];
      await must([['respawn-pane', ...words], clear, labelCommand(pane, spec.label)], path);
    },
    async killWindow(pane) {
      await run([['kill-window', '-t', pane]]);
    },
    async sendKeys(pane, ...keys) {
      await must([['send-keys', '-t', pane, ...keys]]);
    },
    async sendText(pane, text) {
      for (const part of partsOf(text)) await must([['send-keys', '-t', pane, '-l', '--', part]]);
    },
    async paste(pane, text, label) {
      const buffer = `swarm-${process.pid}`;
      await must([['load-buffer', '-b', buffer, '-']], { stdin: text });
      const words = ['paste-buffer', '-p', '-r', '-d', '-b', buffer, '-t', pane];
      await must([words, labelCommand(pane, label)]);
    },
  };
}

export function readPanes(text: string): Pane[] {
  return text.split('\n').flatMap((line) => {
    const [id, session, window, pid, tty = '', dead, status = '', label = ''] = line.split(separator);
    if (id === undefined || !/^%\d+$/.test(id) || session === undefined || window === undefined) return [];
    const exitCode = status === '' ? null : Number(status);
    return [{ id, session, window, pid: Number(pid), tty, dead: dead === '1', exitCode, label }];
  });
}

type Call = { readonly path?: string; readonly stdin?: string };

/** tmux gives a new pane the PATH of whoever calls it, whatever `-e` says. */
function environmentOf({ env }: WindowSpec): { readonly path: Call; readonly variables: string[] } {
  const { PATH, ...others } = env;
  return {
    path: PATH === undefined ? {} : { path: PATH },
    variables: Object.entries(others).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
  };
}

/** A folder as it is: tmux reads formats in it, even commands to run. It leaves `#[` alone. */
function plain(folder: string): string {
  return folder.replace(/#+(?![#[])/g, (run) => run + run);
}

/** tmux takes no more than 16 KiB in one call. */
const longestText = 2000;

function partsOf(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${longestText}}`, 'gu')) ?? [];
}

/** What the program printed stays to be read when it has ended, and its window keeps its name. */
function keepCommands(target: string): TmuxCommand[] {
  const options = [
    ['remain-on-exit', 'on'],
    // Without it tmux writes its own words over the last screen. tmux knows it since 3.3.
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
  return new RalphError('tmux', why, { exitCode: 1, ...(error === undefined ? {} : { cause: error }) });
}

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { waitUntil } from './processes.ts';
import { builtProgram } from './ralph.ts';
import type { Repo } from './repo.ts';

export type Terminal = {
  /** Waits until `prompt` is the last question on the screen, or its end, then types `line` and Enter. */
  answer(prompt: string, line: string): Promise<void>;
  /** Sends keys by their tmux names, such as `C-c`. */
  press(...keys: string[]): void;
  /** Puts text in all at once, as a paste does. */
  paste(text: string): void;
  screen(): string;
  /** Whether the bell rang since the start. */
  hasRung(): boolean;
  resize(columns: number, rows: number): void;
  /** How the program left the terminal. */
  modes(): { alternate: boolean; cursor: boolean; wrap: boolean };
  /** Waits for the end of the program. */
  exitCode(): Promise<number>;
};

/** Runs the built `ralph` in a terminal of its own. It goes when the test ends. */
export function openTerminal(repo: Repo, args: readonly string[], size?: Size): Terminal {
  return openInTerminal(repo, [process.execPath, builtProgram('ralph'), ...args], size);
}

export type Size = { readonly columns: number; readonly rows: number };

/** The same for any program. */
export function openInTerminal(
  repo: Pick<Repo, 'cwd' | 'env' | 'bin'>,
  command: readonly string[],
  size: Size = { columns: 120, rows: 60 },
): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'terminal-'));
  const socket = join(folder, 'tmux');
  const config = join(folder, 'tmux.conf');
  writeFileSync(config, 'set -g remain-on-exit on\nset-hook -g alert-bell "set -g @rung 1"\n');
  const env = {
    ...process.env,
    ...repo.env,
    PATH: `${repo.bin}${delimiter}${process.env.PATH}`,
    TERM: 'xterm',
  };
  const tmux = (...words: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', config, ...words], { env, encoding: 'utf8' });
  // tmux itself sometimes misses the exit status of a pane.
  const status = join(folder, 'status');
  const program = ['sh', '-c', '"$@"; echo $? >"$0"', status, ...command];
  tmux(
    'new-session',
    '-d',
    '-x',
    String(size.columns),
    '-y',
    String(size.rows),
    '-c',
    repo.cwd,
    '--',
    ...program,
  );
  onTestFinished(() => {
    tmux('kill-server');
    rmSync(folder, { recursive: true, force: true });
  });

  const screen = () => tmux('capture-pane', '-p').trimEnd();
  const press = (...keys: string[]) => void tmux('send-keys', ...keys);
  return {
    screen,
    press,
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    modes() {
      const flags = tmux('display-message', '-p', '#{alternate_on}#{cursor_flag}#{wrap_flag}').trim();
      const [alternate, cursor, wrap] = Array.from(flags, (flag) => flag === '1');
      return { alternate: alternate === true, cursor: cursor === true, wrap: wrap === true };
    },
    hasRung: () => tmux('display-message', '-p', '#{@rung}').trim() === '1',
    paste(text) {
      tmux('set-buffer', '--', text);
      tmux('paste-buffer');
    },
    async answer(prompt, line) {
      const isLast = () => {
        const shown = screen();
        const [, question = ''] = /.*◆\s*(.*)/s.exec(shown) ?? [];
        return shown.endsWith(prompt.trimEnd()) || question.startsWith(prompt);
      };
      await waitUntil(isLast, { what: `"${prompt}" on the screen` });
      if (line !== '') tmux('send-keys', '-l', '--', line);
      press('Enter');
    },
    async exitCode() {
      // A pane is dead once all that it printed is on the screen.
      const dead = () => tmux('display-message', '-p', '#{pane_dead}').trim() === '1';
      await waitUntil(() => existsSync(status) && dead(), { what: 'the end of the program' });
      return Number(readFileSync(status, 'utf8'));
    },
  };
}

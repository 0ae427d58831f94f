import { writeFileSync } from 'node:fs';
import type { Notice } from '../../core/notice.ts';
import { attempt } from '../attempt.ts';
import { type Argv, findProgram, runCommand } from '../process/process.ts';
import type { Environment } from '../process/program.ts';
import type { NotifyWorld } from './delivery.ts';

const timeoutMs = 5000;

/** Shows a notice on the desktop: by the program of the system if that works, else by the terminal. */
export async function showOnDesktop(
  notice: Notice,
  { cwd, env, terminal }: Pick<NotifyWorld, 'cwd' | 'env' | 'terminal'>,
): Promise<{ ok: boolean; detail: string }> {
  const command = desktopCommand(notice, env);
  const failure = command === null ? null : await run(command, cwd, env);
  if (command !== null && failure === null) return { ok: true, detail: `shown by ${command[0]}` };
  if (terminal !== null) {
    terminal(terminalNotice(notice, env));
    return { ok: true, detail: 'left to the terminal' };
  }
  return { ok: false, detail: failure ?? 'there is neither a desktop nor a terminal here' };
}

/** Returns the command that shows a notice; null if the system has none. */
export function desktopCommand(
  { title, body }: Pick<Notice, 'title' | 'body'>,
  env: Environment,
  platform = process.platform,
): Argv | null {
  if (platform === 'darwin') {
    const script = [
      'on run argv',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      'end run',
    ];
    return ['osascript', ...script.flatMap((line) => ['-e', line]), title, body];
  }
  const hasDesktop = env.DISPLAY || env.WAYLAND_DISPLAY || env.DBUS_SESSION_BUS_ADDRESS;
  if (platform === 'win32' || !hasDesktop || findProgram('notify-send', env) === null) return null;
  return ['notify-send', '--app-name=ralph', '--', title, withoutMarkup(body)];
}

/** Escapes the body, which notification servers read as markup. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function run(command: Argv, cwd: string, env: Environment): Promise<string | null> {
  const end = await runCommand(command, { cwd, env, timeoutMs, maxBytes: 4096 });
  if (end.exitCode === 0) return null;
  const how = end.error?.message ?? (end.timedOut ? 'no answer' : `exit code ${end.exitCode ?? end.signal}`);
  return `${command[0]} failed: ${how}`;
}

/** Returns the sequence that asks a terminal for a desktop notice; terminals that do not know it show nothing. */
export function terminalNotice(notice: Pick<Notice, 'title' | 'body'>, env: Environment): string {
  return throughMultiplexer(sequenceFor(notice, env), env);
}

function sequenceFor({ title, body }: Pick<Notice, 'title' | 'body'>, env: Environment): string {
  const { TERM = '', KITTY_WINDOW_ID, VTE_VERSION } = env;
  if (KITTY_WINDOW_ID || TERM === 'xterm-kitty') {
    return `\x1b]99;i=ralph:d=0;${title}\x1b\\\x1b]99;i=ralph:p=body;${body}\x1b\\`;
  }
  // Semicolons separate the fields.
  const field = (text: string) => text.replaceAll(';', ',');
  if (VTE_VERSION || /^(rxvt|foot)/.test(TERM)) return `\x1b]777;notify;${field(title)};${field(body)}\x1b\\`;
  return `\x1b]9;${title}${body === '' ? '' : `: ${body}`}\x07`;
}

/** Wraps the sequence for tmux, which passes it on if `allow-passthrough` is set. */
function throughMultiplexer(sequence: string, env: Environment): string {
  if (!env.TMUX) return sequence;
  return `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
}

/** Returns a function that writes to the terminal of this process, wherever its output goes; null if it has none. */
export function controllingTerminal(): ((sequence: string) => void) | null {
  const write = (sequence: string) =>
    attempt(() => {
      writeFileSync('/dev/tty', sequence);
      return true;
    }, false);
  return write('') ? (sequence) => void write(sequence) : null;
}

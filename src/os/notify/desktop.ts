import type { Notice } from '../../core/notice.ts';
import { type Argv, findProgram, runCommand } from '../process/process.ts';
import type { Environment } from '../process/program.ts';
import type { NotifyWorld } from './delivery.ts';
import { terminalNotice } from './terminal-notice.ts';

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

/** Returns the failure, or null. */
async function run(command: Argv, cwd: string, env: Environment): Promise<string | null> {
  const end = await runCommand(command, { cwd, env, timeoutMs, maxBytes: 4096 });
  if (end.exitCode === 0) return null;
  const how = end.error?.message ?? (end.timedOut ? 'no answer' : `exit code ${end.exitCode ?? end.signal}`);
  return `${command[0]} failed: ${how}`;
}

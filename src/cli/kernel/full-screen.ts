import { systemClock } from '../../os/clock.ts';
import { keysIn } from '../../show/watch/keys.ts';
import { createScreen } from '../../show/watch/screen.ts';
import type { Context } from './spec.ts';

/** A program that has the whole terminal for itself. */
export type FullScreenApp = {
  /** Between two looks at what it shows. */
  readonly pollMs: number;
  look(): void | Promise<void>;
  /** As many lines as there are rows. */
  lines(size: { readonly columns: number; readonly rows: number }): readonly string[];
  key(key: string, control: FullScreenControl): void;
};

export type FullScreenControl = {
  end(code: number): void;
  redraw(): void;
  /** Something else has the terminal meanwhile. */
  lend(use: () => Promise<unknown>): Promise<void>;
};

/** Runs until the program ends itself, or a signal does. The terminal is given back on every way out. */
export function runFullScreen(
  { stdin, stdout: { stream: stdout } }: Context,
  app: FullScreenApp,
): Promise<number> {
  const screen = createScreen(stdout);
  const over = new AbortController();
  let isLent = false;

  return new Promise((resolve, reject) => {
    const draw = (): void => {
      const { columns = 80, rows = 24 } = stdout;
      if (!over.signal.aborted && !isLent) screen.draw(app.lines({ columns, rows }));
    };
    const leave = (): void => {
      if (!isLent) stdin.setRawMode(false);
      screen.leave();
    };
    const enter = (): void => {
      if (over.signal.aborted || isLent) return;
      stdin.setRawMode(true);
      screen.enter();
      draw();
    };
    const end = (code: number): void => {
      if (over.signal.aborted) return;
      over.abort();
      listen('off');
      stdin.pause();
      process.off('exit', leave);
      leave();
      resolve(code);
    };
    const safely = (work: () => void) => (): void => {
      try {
        work();
      } catch (error) {
        end(70);
        reject(error);
      }
    };
    const lend = async (use: () => Promise<unknown>): Promise<void> => {
      if (over.signal.aborted || isLent) return;
      listen('off');
      stdin.pause();
      leave();
      isLent = true;
      try {
        await use();
      } finally {
        isLent = false;
        listen('on');
        stdin.resume();
        enter();
      }
    };
    const control = { end, redraw: safely(draw), lend };
    const onResize = safely(() => {
      screen.forget();
      draw();
    });
    const onKeys = (input: string): void => {
      for (const key of keysIn(input)) {
        if (key === '\x1a') suspend(leave);
        else if (!over.signal.aborted && !isLent) app.key(key, control);
      }
      safely(draw)();
    };
    const handlers: [NodeJS.Signals, () => void][] = [
      ['SIGINT', () => end(130)],
      ['SIGTERM', () => end(143)],
      ['SIGHUP', () => end(129)],
      ['SIGQUIT', () => end(131)],
      ['SIGCONT', safely(enter)],
    ];
    const listen = (how: 'on' | 'off'): void => {
      for (const [signal, handler] of handlers) process[how](signal, handler);
      stdout[how]('resize', onResize);
      stdin[how]('data', onKeys);
    };
    const poll = async (): Promise<void> => {
      while (!over.signal.aborted) {
        if (!isLent) await app.look();
        draw();
        await systemClock.sleep(app.pollMs, over.signal);
      }
    };
    process.on('exit', leave);
    stdin.setEncoding('utf8');
    listen('on');
    stdin.resume();
    safely(enter)();
    poll().catch((error) => {
      end(70);
      reject(error);
    });
  });
}

/** Ctrl-Z: the shell gets its terminal back; SIGCONT brings the screen back. */
function suspend(leave: () => void): void {
  leave();
  process.kill(process.pid, 'SIGTSTP');
}

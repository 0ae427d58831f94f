import { systemClock } from '../../os/clock.ts';
import { keysIn } from '../../show/watch/keys.ts';
import { createScreen } from '../../show/watch/screen.ts';
import type { Context } from './spec.ts';

/** A program that uses the whole terminal. */
export type FullScreenApp = {
  /** Milliseconds between two calls of `look`. */
  readonly pollMs: number;
  look(): void | Promise<void>;
  /** Returns as many lines as there are rows. */
  lines(size: { readonly columns: number; readonly rows: number }): readonly string[];
  key(key: string, control: FullScreenControl): void;
};

export type FullScreenControl = {
  end(code: number): void;
  redraw(): void;
  /** Leaves the terminal to something else meanwhile. */
  lend(use: () => Promise<unknown>): Promise<void>;
};

/** Runs until the program or a signal ends it, and returns the exit code. The terminal is restored on every way out. */
export function runFullScreen({ stdin, stdout }: Context, app: FullScreenApp): Promise<number> {
  return new FullScreen(stdin, stdout.stream, app).run();
}

class FullScreen {
  readonly #stdin: NodeJS.ReadStream;
  readonly #stdout: NodeJS.WriteStream;
  readonly #app: FullScreenApp;
  readonly #screen: ReturnType<typeof createScreen>;
  readonly #over = new AbortController();
  #isLent = false;
  #exitCode = 0;
  #error: unknown;

  readonly #control: FullScreenControl = {
    end: (code) => this.#end(code),
    redraw: () => this.#safely(() => this.#draw()),
    lend: (use) => this.#lend(use),
  };
  readonly #leave = (): void => {
    if (!this.#isLent) this.#stdin.setRawMode(false);
    this.#screen.leave();
  };
  readonly #onResize = (): void => {
    this.#screen.forget();
    this.#control.redraw();
  };
  readonly #onKeys = (input: string): void => {
    for (const key of keysIn(input)) {
      if (key === '\x1a') this.#suspend();
      else if (!this.#over.signal.aborted && !this.#isLent) this.#app.key(key, this.#control);
    }
    this.#control.redraw();
  };
  readonly #onSignal: readonly [NodeJS.Signals, () => void][] = [
    ['SIGINT', () => this.#end(130)],
    ['SIGTERM', () => this.#end(143)],
    ['SIGHUP', () => this.#end(129)],
    ['SIGQUIT', () => this.#end(131)],
    ['SIGCONT', () => this.#safely(() => this.#enter())],
  ];

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, app: FullScreenApp) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#app = app;
    this.#screen = createScreen(stdout);
  }

  async run(): Promise<number> {
    const end = new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve));
    process.on('exit', this.#leave);
    this.#stdin.setEncoding('utf8');
    this.#listen('on');
    this.#stdin.resume();
    this.#safely(() => this.#enter());
    this.#poll().catch((error) => this.#end(70, error));
    await end;
    if (this.#error !== undefined) throw this.#error;
    return this.#exitCode;
  }

  async #poll(): Promise<void> {
    while (!this.#over.signal.aborted) {
      if (!this.#isLent) await this.#app.look();
      this.#draw();
      await systemClock.sleep(this.#app.pollMs, this.#over.signal);
    }
  }

  #draw(): void {
    const { columns = 80, rows = 24 } = this.#stdout;
    if (!this.#over.signal.aborted && !this.#isLent) this.#screen.draw(this.#app.lines({ columns, rows }));
  }

  #enter(): void {
    if (this.#over.signal.aborted || this.#isLent) return;
    this.#stdin.setRawMode(true);
    this.#screen.enter();
    this.#draw();
  }

  #end(code: number, error?: unknown): void {
    if (this.#over.signal.aborted) return;
    this.#exitCode = code;
    this.#error = error;
    this.#over.abort();
    this.#listen('off');
    this.#stdin.pause();
    process.off('exit', this.#leave);
    this.#leave();
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#end(70, error);
    }
  }

  async #lend(use: () => Promise<unknown>): Promise<void> {
    if (this.#over.signal.aborted || this.#isLent) return;
    this.#listen('off');
    this.#stdin.pause();
    this.#leave();
    this.#isLent = true;
    try {
      await use();
    } finally {
      this.#isLent = false;
      this.#listen('on');
      this.#stdin.resume();
      this.#enter();
    }
  }

  #listen(how: 'on' | 'off'): void {
    for (const [signal, handler] of this.#onSignal) process[how](signal, handler);
    this.#stdout[how]('resize', this.#onResize);
    this.#stdin[how]('data', this.#onKeys);
  }

  /** Ctrl-Z: gives the terminal back to the shell; SIGCONT restores the screen. */
  #suspend(): void {
    this.#leave();
    process.kill(process.pid, 'SIGTSTP');
  }
}

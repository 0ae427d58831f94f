import { systemClock } from './clock.ts';
import { type Argv, converse, type Environment } from './process.ts';

/** A command that runs whenever it is wanted. */
export type Repeater = {
  /** What it printed; null where it failed, or while another call is under way. */
  run(): Promise<string | null>;
  close(): void;
};

type Call = {
  readonly mark: string;
  readonly chunks: Buffer[];
  bytes: number;
  /** The last bytes of the output. */
  tail: string;
  /** How much of the output is the command's; null where that failed. */
  end(bytes: number | null): void;
};

const tailBytes = 64;
const lastLine = /(end-[a-z0-9]+) (\d+)\n$/;
/** The word that it is given, printed after what the command printed, tells where that ends. */
const script = 'while read -r mark; do "$@" </dev/null; printf "%s %s\\n" "$mark" "$?"; done';

/**
 * Keeps a small process that starts a command again and again: to start one from Node takes 2 ms each time, because the
 * whole of its memory is prepared for copying. It ends when we do, also when we are killed. Not for Windows.
 */
export function repeatCommand(
  argv: Argv,
  options: {
    readonly cwd: string;
    readonly env: Environment;
    readonly timeoutMs: number;
    readonly maxBytes: number;
  },
): Repeater {
  let call: Call | null = null;
  let hasExited = false;
  const shell = converse(['sh', '-c', script, 'sh', ...argv], {
    ...options,
    onStdout(chunk) {
      if (call === null) return;
      call.chunks.push(chunk);
      call.bytes += chunk.length;
      call.tail = (call.tail + chunk.toString('latin1', Math.max(0, chunk.length - tailBytes))).slice(
        -tailBytes,
      );
      const end = lastLine.exec(call.tail);
      if (end?.[1] === call.mark) call.end(end[2] === '0' ? call.bytes - end[0].length : null);
      else if (call.bytes > options.maxBytes) shell.kill();
    },
  });
  void shell.exited.then(() => {
    hasExited = true;
    call?.end(null);
  });
  return {
    async run() {
      if (call !== null || hasExited) return null;
      const mark = `end-${Math.random().toString(36).slice(2)}`;
      const chunks: Buffer[] = [];
      const cancel = systemClock.timer(options.timeoutMs, () => shell.kill());
      const bytes = await new Promise<number | null>((end) => {
        call = { mark, chunks, bytes: 0, tail: '', end };
        shell.say(`${mark}\n`);
      });
      cancel();
      call = null;
      return bytes === null ? null : Buffer.concat(chunks).toString('utf8', 0, bytes);
    },
    close: () => shell.close(),
  };
}

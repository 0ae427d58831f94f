import type { AgentEvent } from '../../agents/adapter.ts';
import { quoteWord } from '../../core/words.ts';
import type { JournalEvent } from '../../journal/events.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { cleanTerminal, createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import { createFormatter } from './formatter.ts';
import { firstLine, narrate } from './narrate.ts';
import { createStatusBar, type Output } from './status-bar.ts';
import { createStyle } from './style.ts';

export type RunOutputOptions = {
  /** `json` prints the journal on stdout and nothing else there. */
  readonly mode: 'text' | 'json';
  /** Shows what the agent does as it happens. */
  readonly stream: boolean;
  readonly maxOutput?: { readonly lines: number; readonly chars: number };
  readonly verbose: boolean;
  /** Lets the agent's control sequences through. */
  readonly raw: boolean;
  readonly timestamps: boolean;
  /** Shows the figures in the last line of the terminal, if stdout is one. */
  readonly statusLine: boolean;
  readonly color: 'auto' | 'always' | 'never';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly redactor: Redactor;
  now(): number;
};

export type RunOutput = ReturnType<typeof createRunOutput>;

export function createRunOutput(options: RunOutputOptions) {
  const { mode, redactor, now, timestamps, raw, maxOutput } = options;
  const style = createStyle({ env: options.env, isTTY: options.stdout.isTTY === true, flag: options.color });
  const bar = wantsStatusBar(options) ? createStatusBar(options.stdout, style, now) : null;
  const stdout = bar?.over(options.stdout) ?? options.stdout;
  const stderr = (options.stderr.isTTY && bar?.over(options.stderr)) || options.stderr;
  const output = redactedOutput(stdout, redactor);
  const say = (line: string): void => {
    if (mode !== 'text') return;
    output.drain();
    stdout.write(`${line}\n`);
  };
  const sayVerbose = (lines: readonly string[]): void => {
    if (options.verbose) for (const line of lines) stderr.write(`[ralph] ${redactor.text(line)}\n`);
  };
  const agentStderr = redactedOutput(stderr, redactor);
  const formatter = createFormatter({ style, write: output.write, now, timestamps, raw, maxOutput });
  const cleaner = createTerminalCleaner();
  const streams = mode === 'text' && options.stream;
  let isDecided = false;

  return {
    journal(event: JournalEvent): void {
      bar?.journal(event);
      if (mode === 'json') stdout.write(`${JSON.stringify(event)}\n`);
      if (event.type === 'agent.ended') {
        formatter.end();
        output.flush();
      }
      if (event.type === 'decision') isDecided = event.kind === 'stop';
      const lines = narrate(event, style);
      for (const line of !isDecided && isFailure(event) ? lines.slice(0, 2) : lines) say(line);
      sayVerbose(explain(event));
    },
    agent(event: AgentEvent): void {
      bar?.agent(event);
      if (streams) formatter.event(event);
    },
    stderr(text: string): void {
      bar?.sign();
      if (streams) agentStderr.write(cleaner.push(text));
    },
    intro: (text: string) => say(style.dim(text)),
    warn: (text: string) => void stderr.write(`warning: ${text}\n`),
    signal(text: string): void {
      formatter.endLine();
      output.drain();
      stderr.write(`${text}\n`);
    },
    verbose: (text: string) => sayVerbose([text]),
    outro: (text: string) => say(cleanTerminal(redactor.text(text))),
    next: (text: string) => say(`${style.bold('Next:')} ${text}`),
    close(): void {
      output.flush();
      if (streams) agentStderr.write(cleaner.end());
      agentStderr.flush();
      bar?.close();
    },
  };
}

/** True for the end of a run by an error. Unless `decide` ended it, the command prints the reason with its remedy. */
function isFailure(event: JournalEvent): boolean {
  return event.type === 'run.ended' && (event.outcome === 'LOOP_FAILED' || event.outcome === 'AGENT_FAILED');
}

/** False also where the agent may write control sequences, and in a log that only looks like a terminal. */
function wantsStatusBar({ statusLine, mode, raw, stdout, env }: RunOutputOptions): boolean {
  return statusLine && mode === 'text' && !raw && stdout.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

/** Takes secrets out; holds back what may be the beginning of one, because a secret may come in two writes. */
function redactedOutput(output: Output, redactor: Redactor) {
  let stream = redactor.stream();
  let waiting = '';
  let scheduled: NodeJS.Immediate | null = null;
  const put = (bytes: Buffer): void => void (bytes.length > 0 && output.write(bytes));

  /** Writes what is waiting: events come in bursts, one chunk of the agent's stream at a time. */
  function drain(): void {
    if (scheduled !== null) clearImmediate(scheduled);
    scheduled = null;
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    put(stream.push(Buffer.from(text)));
  }

  return {
    write(text: string): void {
      waiting += text;
      if (waiting.length > 16_384) drain();
      else scheduled ??= setImmediate(drain);
    },
    drain,
    flush(): void {
      drain();
      put(stream.end());
      stream = redactor.stream();
    },
  };
}

function explain(event: JournalEvent): string[] {
  switch (event.type) {
    case 'iteration.started':
      return [
        `Iteration ${event.iteration}/${event.of ?? '∞'} starting`,
        `Prompt: ${oneWord(event.promptStart ?? '')}`,
      ];
    case 'agent.started':
      return [`Agent command: ${event.argv.map(shortWord).join(' ')}`];
    case 'agent.ended':
      return [`Agent ended: ${event.end}, exit code ${event.exitCode} (${seconds(event.ms)})`];
    case 'guardrail.started':
      return [`Running guardrail: ${event.command}`];
    case 'guardrail.ended':
      return [`Guardrail exited with code ${event.exitCode} (${seconds(event.ms)})`];
    case 'decision':
      return [`Completion: ${event.because.code}: ${firstLine(event.because.text)}`];
    default:
      return [];
  }
}

const longestWord = 200;

/** Returns an argument as a shell takes it; a long one, such as the system prompt, is left out. */
function shortWord(text: string): string {
  if (text.length > longestWord || text.includes('\n')) return "'…'";
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(cleanTerminal(text));
}

/** Returns a text on one line, without control characters. */
function oneWord(text: string): string {
  return cleanTerminal(text).replace(/\n/g, '\\n');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

import type { AgentEvent } from '../agents/adapter.ts';
import { formatDuration } from '../core/duration.ts';
import { cleanTerminal, createTerminalCleaner } from '../safety/terminal.ts';
import type { JournalEvent } from '../store/events.ts';
import { createCountdown } from './countdown.ts';
import { createFormatter } from './formatter.ts';
import { createStatusBar } from './status-bar.ts';
import { createStyle, type Style } from './style.ts';
import { formatCost } from './units.ts';

type Redactor = {
  text(text: string): string;
  stream(): { push(chunk: Buffer): Buffer; end(): Buffer };
};

type Output = {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export type RunViewOptions = {
  /** `json` prints the journal on stdout and nothing else there. */
  readonly mode: 'text' | 'json';
  /** Show what the agent does as it happens. */
  readonly stream: boolean;
  readonly verbose: boolean;
  /** Let the agent's control sequences through. */
  readonly raw: boolean;
  readonly timestamps: boolean;
  /** A line with the figures below everything else, where stdout is a terminal. */
  readonly statusLine: boolean;
  readonly color: 'auto' | 'always' | 'never';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly redactor: Redactor;
  now(): number;
};

/** What a person sees of a run while it runs. */
export type RunView = {
  journal(event: JournalEvent): void;
  agent(event: AgentEvent): void;
  stderr(text: string): void;
  /** A line before the run begins. */
  intro(text: string): void;
  warn(text: string): void;
  signal(text: string): void;
  verbose(text: string): void;
  /** The next command to type. */
  next(text: string): void;
  close(): void;
};

export function createRunView(options: RunViewOptions): RunView {
  const { mode, redactor } = options;
  const style = createStyle({
    env: options.env,
    isTTY: options.stdout.isTTY === true,
    flag: options.color,
  });
  const bar = wantsStatusBar(options) ? createStatusBar(options.stdout, style, options.now) : null;
  const stdout = bar?.over(options.stdout) ?? options.stdout;
  const stderr = (options.stderr.isTTY && bar?.over(options.stderr)) || options.stderr;
  const shown = redactedOutput(stdout, redactor);
  const say = (line: string): void => {
    if (mode !== 'text') return;
    shown.drain();
    stdout.write(`${line}\n`);
  };
  const agentStderr = redactedOutput(stderr, redactor);
  const formatter = createFormatter({
    style,
    write: (text) => shown.write(text),
    now: options.now,
    timestamps: options.timestamps,
    raw: options.raw,
  });
  const countdown = createCountdown(stdout, options.now, style);
  const cleaner = createTerminalCleaner();
  const streams = mode === 'text' && options.stream;

  return {
    journal(event) {
      countdown.stop();
      bar?.journal(event);
      if (mode === 'json') stdout.write(`${JSON.stringify(event)}\n`);
      if (event.type === 'agent.ended') {
        formatter.end();
        shown.flush();
      }
      for (const line of narrate(event, style)) say(line);
      if (event.type === 'decision' && event.kind === 'wait' && mode === 'text' && bar === null)
        countdown.start(event.ms ?? 0);
      if (!options.verbose) return;
      for (const line of explain(event)) stderr.write(`[ralph] ${redactor.text(line)}\n`);
    },
    agent(event) {
      bar?.agent(event);
      if (streams) formatter.event(event);
    },
    stderr(text) {
      bar?.sign();
      if (streams) agentStderr.write(cleaner.push(text));
    },
    intro: (text) => say(style.dim(text)),
    warn: (text) => void stderr.write(`warning: ${text}\n`),
    signal(text) {
      countdown.stop();
      stderr.write(`${text}\n`);
    },
    verbose(text) {
      if (options.verbose) stderr.write(`[ralph] ${redactor.text(text)}\n`);
    },
    next(text) {
      say(`${style.bold('Next:')} ${text}`);
    },
    close() {
      countdown.stop();
      shown.flush();
      if (streams) agentStderr.write(cleaner.end());
      agentStderr.flush();
      bar?.close();
    },
  };
}

/** Control sequences that the agent may write, or a log that only looks like a terminal, do not go with it. */
function wantsStatusBar({ statusLine, mode, raw, stdout, env }: RunViewOptions): boolean {
  return statusLine && mode === 'text' && !raw && stdout.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

/** A secret may be cut by the border of two writes: what may begin one is held back until it is known. */
function redactedOutput(output: Output, redactor: Redactor) {
  let stream = redactor.stream();
  let waiting = '';
  let scheduled: NodeJS.Immediate | null = null;
  const put = (bytes: Buffer): void => void (bytes.length > 0 && output.write(bytes));

  /** Events come in bursts, one chunk of the agent's stream at a time: one write for each burst. */
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
      if (waiting.length > 65_536) drain();
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

/** The story of a run, a line or two per event. */
function narrate(event: JournalEvent, style: Style): string[] {
  switch (event.type) {
    case 'iteration.started':
      return [
        '',
        style.bold(
          `${style.symbol('iteration')} Iteration ${event.iteration}${event.of === null ? '' : `/${event.of}`}`,
        ),
      ];
    case 'agent.ended':
      return event.end === 'finished'
        ? []
        : [
            style.red(
              `${style.symbol('fail')} The turn ended as ${event.end}${event.error ? `: ${firstLine(event.error)}` : ''}`,
            ),
          ];
    case 'guardrail.started':
      return [style.dim(`${style.symbol('run')} Guardrail "${event.command}"`)];
    case 'guardrail.ended': {
      const time = formatDuration(event.ms);
      if (event.ok)
        return [
          style.green(`${style.symbol('pass')} Guardrail "${event.command}" passed (exit code 0, ${time})`),
        ];
      const how = event.timedOut ? 'timed out' : `failed with exit code ${event.exitCode}`;
      return [
        style.red(
          `${style.symbol('fail')} Guardrail "${event.command}" ${how} (${time}), fail action ${event.action}`,
        ),
      ];
    }
    case 'verdict':
      return event.accepted
        ? [style.green(`${style.symbol('pass')} Claim accepted, ${firstLine(event.because)}`)]
        : [style.red(`${style.symbol('fail')} Claim rejected: ${firstLine(event.because)}`)];
    case 'decision':
      return narrateDecision(event, style);
    case 'verify.ended': {
      const time = formatDuration(event.ms);
      const mark = event.ok ? style.green(style.symbol('pass')) : style.red(style.symbol('fail'));
      return [
        `${mark} Verify "${event.command}" ${event.ok ? 'passed' : `failed with exit code ${event.exitCode}`} (${time})`,
      ];
    }
    case 'scm.ended':
      return event.ok
        ? [style.green(`${style.symbol('pass')} SCM ${event.task}: ${firstLine(event.detail)}`)]
        : [style.red(`${style.symbol('fail')} SCM ${event.task} failed: ${firstLine(event.detail)}`)];
    case 'note':
      return [style.cyan(`${style.symbol('from')} Word for the agent: ${firstLine(event.text)}`)];
    case 'run.resumed':
      return [style.dim(`Resuming at iteration ${event.iteration}`)];
    case 'notice':
      return [style.yellow(`${style.symbol('warn')} ${event.text}`)];
    case 'notified':
      return event.ok
        ? []
        : [style.yellow(`${style.symbol('warn')} Notification by ${event.channel} failed: ${event.detail}`)];
    case 'run.ended': {
      const cost = event.usage.costUsd === undefined ? '' : `, ${formatCost(event.usage.costUsd)}`;
      const figures = `${event.iterations} iteration${event.iterations === 1 ? '' : 's'}, ${formatDuration(event.ms)}${cost}`;
      const paint = event.exitCode === 0 ? style.green : style.yellow;
      const why = event.outcome === 'PROMISE_ACCEPTED' ? [] : [cleanTerminal(event.because.text)];
      return ['', style.bold(paint(`${event.outcome} (${figures})`)), ...why];
    }
    default:
      return [];
  }
}

function narrateDecision(event: Extract<JournalEvent, { type: 'decision' }>, style: Style): string[] {
  if (event.kind === 'wait') {
    return [
      style.yellow(
        `${style.symbol('wait')} Waiting ${formatDuration(event.ms ?? 0)}: ${firstLine(event.because.text)}`,
      ),
    ];
  }
  const told = event.because.code === 'claim-rejected' || event.because.code === 'checks-failed';
  if (event.kind === 'stop' || told) return [];
  return [style.dim(`${style.symbol('again')} Going on: ${firstLine(event.because.text)}`)];
}

/** The lines of `--verbose`. */
function explain(event: JournalEvent): string[] {
  switch (event.type) {
    case 'iteration.started':
      return [
        `Iteration ${event.iteration}/${event.of ?? '∞'} starting`,
        `Prompt: ${oneWord(event.promptStart ?? '')}`,
      ];
    case 'agent.started':
      return [`Agent command: ${event.argv.map(oneWord).join(' ')}`];
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

/** Line breaks and other controls of an argument, on one line. */
function oneWord(text: string): string {
  return cleanTerminal(text).replace(/\n/g, '\\n');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

function firstLine(text: string): string {
  return cleanTerminal(text).split('\n')[0] ?? '';
}

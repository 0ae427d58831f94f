import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../core/error.ts';
import { noUsage, type Usage } from '../core/turn.ts';
import type { ToolCall, ToolEnd, TurnWriter } from './formats/format.ts';
import { floodMark, writeAll, writeFlood } from './output.ts';
import type { ApiError, Child, Flood, ScriptedResult, ScriptedTool, ScriptTurn, Step } from './script.ts';

const defaultUsage: Usage = {
  inputTokens: 1000,
  outputTokens: 50,
  cacheReadTokens: 800,
  cacheWriteTokens: 0,
  costUsd: 0.005,
};

/** Surroundings of a turn. */
export type Stage = {
  readonly writer: TurnWriter;
  readonly cwd: string;
  /** Values of `{{prompt}}` and `{{iteration}}`. */
  readonly values: Readonly<Record<'prompt' | 'iteration', string>>;
  /** File for the ids of child processes, so that a test can end them. */
  readonly childrenFile: string;
};

/** Returns the usage that a turn will report: of its result step, none after an error, otherwise the default. */
export function usageOf(turn: ScriptTurn): Usage {
  for (const step of turn.steps) {
    if ('result' in step) return usageOfResult(step.result);
  }
  return turn.steps.some((step) => 'error' in step) ? noUsage : defaultUsage;
}

/** Plays the steps. Returns null, or the status of the error that the turn failed with (1 if it has none). */
export async function playTurn(turn: ScriptTurn, on: Stage): Promise<number | null> {
  let error: ApiError | undefined;
  let ok: boolean | undefined;
  print(on.writer.start());
  for (const step of turn.steps) {
    if ('error' in step) error = step.error;
    if ('result' in step) ok = step.result.ok ?? true;
    await playStep(step, on, error);
  }
  const isFailure = !(ok ?? error === undefined);
  if (ok === undefined && !turn.noResult) print(end(on.writer, !isFailure, error, usageOf(turn)));
  if (turn.hangAfterResult) await forever();
  return isFailure ? (error?.status ?? 1) : null;
}

async function playStep(step: Step, on: Stage, error: ApiError | undefined): Promise<void> {
  const { writer } = on;
  if ('text' in step) return print(writer.text([fill(step.text, on)]));
  if ('deltas' in step) return print(writer.text(step.deltas));
  if ('thinking' in step) return print(writer.thinking(step.thinking));
  if ('tool' in step) return showTool(step.tool, on);
  if ('shell' in step)
    return useTool({ kind: 'shell', command: step.shell }, () => runShell(step.shell, on), on);
  if ('write' in step) return writeFile(fill(step.write.path, on), fill(step.write.content, on), on);
  if ('todo' in step) return print(writer.todo(step.todo));
  if ('subagent' in step) return print(writer.subagent(step.subagent.text));
  if ('echoPrompt' in step) return print(writer.echo(on.values.prompt));
  if ('raw' in step) return print(`${step.raw}\n`);
  if ('rawBytes' in step) return writeAll(1, Buffer.from(step.rawBytes, 'base64'));
  if ('flood' in step) return writeFlood(step.flood, () => floodLine(step.flood, writer));
  if ('delay' in step) return new Promise((done) => setTimeout(done, step.delay));
  if ('hang' in step) return forever();
  if ('ignoreSignals' in step) return ignoreSignals();
  if ('child' in step) return startChild(step.child, on);
  if ('error' in step) return print(writer.error(step.error));
  if ('stderr' in step) return writeAll(2, `${step.stderr}\n`);
  const { result } = step;
  print(end(writer, result.ok ?? true, error, usageOfResult(result)));
}

function end(writer: TurnWriter, ok: boolean, error: ApiError | undefined, usage: Usage): string {
  return writer.result({ ok, usage, ...(error === undefined ? {} : { error }) });
}

function usageOfResult({ usage, costUsd }: ScriptedResult): Usage {
  return { ...defaultUsage, ...usage, ...(costUsd === undefined ? {} : { costUsd }) };
}

function print(data: string): void {
  writeAll(1, data);
}

/** Fills in the values in one pass: placeholders in a value stay as they are. */
function fill(text: string, { values }: Stage): string {
  return text.replace(/\{\{(prompt|iteration)\}\}/g, (_match, name: 'prompt' | 'iteration') => values[name]);
}

function useTool(call: ToolCall, run: () => ToolEnd, { writer }: Stage): void {
  print(writer.toolStart(call));
  print(writer.toolEnd(call, run()));
}

function showTool({ name, input = {}, output = '', ok = true, exitCode }: ScriptedTool, on: Stage): void {
  useTool(
    { kind: 'other', name, input },
    () => ({ output, ok, ...(exitCode === undefined ? {} : { exitCode }) }),
    on,
  );
}

function writeFile(name: string, content: string, on: Stage): void {
  const path = resolve(on.cwd, name);
  useTool(
    { kind: 'write', path, content, existed: existsSync(path) },
    () => {
      try {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        return { output: '', ok: true };
      } catch (error) {
        return { output: messageOf(error), ok: false };
      }
    },
    on,
  );
}

/** Runs a command. Its output goes to a file: both streams keep their order, and a background process blocks nothing. */
function runShell(command: string, { cwd }: Stage): ToolEnd {
  const folder = mkdtempSync(join(tmpdir(), 'fake-agent-'));
  const file = join(folder, 'output');
  const fd = openSync(file, 'a');
  const [shell, ...flags] = process.platform === 'win32' ? ['cmd', '/d', '/s', '/c'] : ['sh', '-c'];
  const { status, signal } = spawnSync(shell, [...flags, command], { cwd, stdio: ['ignore', fd, fd] });
  closeSync(fd);
  const output = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  const exitCode = status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return { output, exitCode, ok: exitCode === 0 };
}

function floodLine({ as }: Flood, writer: TurnWriter): string {
  if (as === 'text') return writer.text([floodMark]);
  if (as === 'raw') return `${floodMark}\n`;
  const call: ToolCall = { kind: 'shell', command: 'yes' };
  return writer.toolStart(call) + writer.toolEnd(call, { output: floodMark, ok: true, exitCode: 0 });
}

function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}

function startChild({ seconds, setsid = false, holdOutput = false }: Child, on: Stage): void {
  const child = spawn(process.execPath, ['-e', `setTimeout(() => {}, ${seconds * 1000})`], {
    cwd: on.cwd,
    detached: setsid,
    stdio: ['ignore', holdOutput ? 'inherit' : 'ignore', holdOutput ? 'inherit' : 'ignore'],
  });
  child.unref();
  appendFileSync(on.childrenFile, `${child.pid}\n`);
}

function forever(): Promise<void> {
  return new Promise(() => setInterval(() => {}, 2 ** 30));
}

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TodoItem } from '../agents/adapter.ts';
import { messageOf } from '../core/error.ts';
import { noUsage, type Usage } from '../core/turn.ts';
import type { AcpSession } from './acp-session.ts';
import type { AgentTools, Ids, Line, ToolCall, ToolEnd, TurnWriter } from './formats/format.ts';
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
  readonly tools: AgentTools;
  readonly ids: Ids;
  readonly cwd: string;
  /** Values of `{{prompt}}` and `{{iteration}}`. */
  readonly values: Readonly<Record<'prompt' | 'iteration', string>>;
  /** The client to ask before a tool runs; null for an agent that asks nobody. */
  readonly acp: AcpSession | null;
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
  let text = '';
  const end = (result: { ok: boolean; usage: Usage }) =>
    print(on.writer.result({ ...result, text, ...(error === undefined ? {} : { error }) }));
  print(on.writer.start?.());
  for (const step of turn.steps) {
    if ('error' in step) error = step.error;
    text = answerIn(step, on) ?? text;
    if ('result' in step) {
      ok = step.result.ok ?? true;
      end({ ok, usage: usageOfResult(step.result) });
    } else {
      await playStep(step, on);
    }
  }
  const isFailure = !(ok ?? error === undefined);
  if (ok === undefined && !turn.noResult) end({ ok: !isFailure, usage: usageOf(turn) });
  if (turn.hangAfterResult) await forever();
  else if (ok !== undefined || !turn.noResult) on.acp?.untilClosed();
  return isFailure ? (error?.status ?? 1) : null;
}

/** Returns the text of a step that may be the last answer of the turn. */
function answerIn(step: Step, on: Stage): string | undefined {
  if ('text' in step) return fill(step.text, on);
  if ('deltas' in step) return step.deltas.join('');
  return 'error' in step ? step.error.message : undefined;
}

async function playStep(step: Exclude<Step, { result: unknown }>, on: Stage): Promise<void> {
  const { writer } = on;
  if ('text' in step) return print(writer.text([fill(step.text, on)]));
  if ('deltas' in step) return print(writer.text(step.deltas));
  if ('thinking' in step) return print(writer.thinking?.(step.thinking));
  if ('tool' in step) return showTool(step.tool, on);
  if ('shell' in step) return useTool(shellCall(step.shell, on), () => runShell(step.shell, on), on);
  if ('write' in step) return writeFile(fill(step.write.path, on), fill(step.write.content, on), on);
  if ('todo' in step) return showTodo(step.todo, on);
  if ('subagent' in step) return print(writer.subagent?.(step.subagent.text));
  if ('echoPrompt' in step) return print(writer.echo?.(on.values.prompt));
  if ('raw' in step) return print([step.raw]);
  if ('flood' in step) return writeFlood(step.flood, () => linesOf(floodLine(step.flood, on)));
  if ('delay' in step) return new Promise((done) => setTimeout(done, step.delay));
  if ('hang' in step) return hang(on);
  if ('ignoreSignals' in step) return ignoreSignals();
  if ('child' in step) return startChild(step.child, on);
  if ('error' in step) return print(writer.error?.(step.error));
  writeAll(2, `${step.stderr}\n`);
}

function usageOfResult({ usage, costUsd }: ScriptedResult): Usage {
  return { ...defaultUsage, ...usage, ...(costUsd === undefined ? {} : { costUsd }) };
}

function print(lines: readonly Line[] = []): void {
  writeAll(1, linesOf(lines));
}

function linesOf(lines: readonly Line[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** Fills in the values in one pass: placeholders in a value stay as they are. */
function fill(text: string, { values }: Stage): string {
  return text.replace(/\{\{(prompt|iteration)\}\}/g, (_match, name: 'prompt' | 'iteration') => values[name]);
}

function useTool(call: ToolCall, run: () => ToolEnd, { writer, acp }: Stage): void {
  print(writer.toolStart(call));
  const isAllowed = acp === null || call.kind === 'other' || acp.ask(call);
  print(writer.toolEnd(call, isAllowed ? run() : { output: 'The user rejected the call.', ok: false }));
}

function shellCall(command: string, { tools, ids }: Stage): ToolCall {
  const [name, field] = tools.shell;
  return { id: ids.id('call_fake'), kind: 'shell', name, input: { [field]: command }, subject: command };
}

function showTool({ name, input = {}, output = '', ok = true, exitCode }: ScriptedTool, on: Stage): void {
  const end = { output, ok, ...(exitCode === undefined ? {} : { exitCode }) };
  useTool({ id: on.ids.id('call_fake'), kind: 'other', name, input, subject: '' }, () => end, on);
}

function showTodo(items: readonly TodoItem[], on: Stage): void {
  print(on.writer.todo?.(items));
  if (on.tools.todo === undefined) return;
  const [name, field] = on.tools.todo;
  const words = { pending: 'pending', active: 'in_progress', done: 'completed' };
  const todos = items.map(({ text, status }) => ({ [field]: text, status: words[status] }));
  showTool({ name, input: { todos } }, on);
}

function writeFile(name: string, content: string, on: Stage): void {
  const path = resolve(on.cwd, name);
  const [tool, pathField, contentField] = on.tools.write;
  const input = { [pathField]: path, [contentField]: content };
  useTool(
    { id: on.ids.id('call_fake'), kind: 'write', name: tool, input, subject: path },
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

function floodLine({ as }: Flood, on: Stage): Line[] {
  if (as === 'text') return on.writer.text([floodMark]);
  if (as === 'raw') return [floodMark];
  const call = shellCall('yes', on);
  return [
    ...on.writer.toolStart(call),
    ...on.writer.toolEnd(call, { output: floodMark, ok: true, exitCode: 0 }),
  ];
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

function hang({ acp }: Stage): Promise<void> {
  acp?.listen();
  return forever();
}

function forever(): Promise<void> {
  return new Promise(() => setInterval(() => {}, 2 ** 30));
}

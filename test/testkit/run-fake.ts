import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { FakeAgentName, Script } from '../../src/testkit/script.ts';

/** The arguments that ask each CLI for its event stream. */
export const streamArguments: Record<FakeAgentName, readonly string[]> = {
  claude: ['-p', '--output-format', 'stream-json', '--verbose'],
  codex: ['exec', '--json', '-'],
  amp: ['--stream-json', '-x'],
  opencode: ['run', '--format', 'json'],
  gemini: ['-o', 'stream-json'],
  copilot: ['--output-format', 'json', '-p'],
  qwen: ['-o', 'stream-json'],
  pi: ['-p', '--mode', 'json'],
  cline: ['--json'],
  custom: [],
};

export type FakeRun = {
  readonly script: Script;
  readonly args?: readonly string[];
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
};

export type FakeEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Bundles the program once, so that a test does not depend on an earlier build. */
export function bundleFakeAgent(): string {
  const outfile = join(mkdtempSync(join(tmpdir(), 'fake-agent-')), 'fake-agent.cjs');
  bundle('fake-agent.ts', outfile, 'cjs');
  return outfile;
}

export function bundle(entry: string, outfile: string, format: 'cjs' | 'esm'): void {
  const path = fileURLToPath(new URL(`../../src/testkit/${entry}`, import.meta.url));
  buildSync({ entryPoints: [path], outfile, format, bundle: true, platform: 'node', logLevel: 'silent' });
}

/** A folder to work in, with the script beside it. */
export function prepare(script: Script): { dir: string; scriptPath: string } {
  const dir = mkdtempSync(join(tmpdir(), 'fake-work-'));
  const scriptPath = join(dir, 'script.json');
  writeFileSync(scriptPath, JSON.stringify(script));
  return { dir, scriptPath };
}

export function start(
  program: string,
  { dir, scriptPath }: { dir: string; scriptPath: string },
  { args = [], input = '', env = {} }: Omit<FakeRun, 'script'> = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [program, '--script', scriptPath, ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
  });
  child.stdin.end(input);
  return child;
}

/** Collects what the process prints until it has ended. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<FakeEnd> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) =>
      done({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}

/** One turn in a folder of its own, as an event stream unless `args` say otherwise. */
export function runFake(
  program: string,
  { script, ...options }: FakeRun,
): Promise<FakeEnd & { dir: string }> {
  const place = prepare(script);
  const args = options.args ?? streamArguments[script.agent];
  return ended(start(program, place, { ...options, args })).then((end) => ({ ...end, dir: place.dir }));
}

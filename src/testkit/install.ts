import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { RalphError } from '../core/error.ts';
import { quoteWord } from '../core/words.ts';
import { assertScript, type FakeAgentName, type Script } from './script.ts';
import { type Call, filesOf, linesOf } from './traces.ts';

export type FakeAgentOptions = {
  readonly agent: FakeAgentName;
  /** Name of the executable; the agent's own by default. */
  readonly name?: string;
  /** Calls are recorded unless it says `record: false`. */
  readonly script: Omit<Script, 'agent'>;
};

export type InstalledFakeAgent = {
  /** The executable to call. */
  readonly path: string;
  readonly scriptPath: string;
  /** Returns every start so far, except for `--version`. */
  calls(): Promise<Call[]>;
  /** Returns the number of turns so far. */
  turn(): number;
  /** Returns the ids of the processes that `child` steps left behind. */
  children(): number[];
};

/** Writes an executable into `dir` that plays the agent from the script. */
export async function installFakeAgent(dir: string, options: FakeAgentOptions): Promise<InstalledFakeAgent> {
  const { agent, name = agent } = options;
  const script: unknown = { record: true, ...options.script, agent };
  assertScript(script);
  const program = locateProgram();
  const folder = resolve(dir);
  const path = join(folder, name);
  const scriptPath = join(folder, `${name}.script.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(scriptPath, `${JSON.stringify(script, null, 2)}\n`);
  await writeFile(path, shellShim(program, scriptPath));
  await chmod(path, 0o755);
  if (process.platform === 'win32') await writeFile(`${path}.cmd`, commandShim(program, scriptPath));

  const files = filesOf(scriptPath);
  return {
    path: process.platform === 'win32' ? `${path}.cmd` : path,
    scriptPath,
    calls: async () => linesOf(files.calls).map((line): Call => JSON.parse(line)),
    turn: () => linesOf(files.turns).length,
    children: () => linesOf(files.children).map(Number),
  };
}

/** Finds the program: one directory above the library and the commands, or in dist for the source. */
function locateProgram(): string {
  const places = ['../fake-agent.cjs', '../../dist/fake-agent.cjs'];
  const paths = places.map((place) => join(import.meta.dirname, place));
  const program = paths.find((path) => existsSync(path));
  if (program !== undefined) return program;
  throw new RalphError('fake-agent-missing', 'The fake agent is not built: dist/fake-agent.cjs is missing.', {
    remedy: 'run npm run build',
  });
}

function shellShim(program: string, script: string): string {
  const words = [process.execPath, program, '--script', script].map(quoteWord);
  return `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`;
}

function commandShim(program: string, script: string): string {
  return `@"${process.execPath}" "${program}" --script "${script}" %*\r\n`;
}

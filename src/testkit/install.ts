import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RalphError } from '../core/error.ts';
import { quoteWord } from '../core/words.ts';
import { assertScript, type FakeAgentName, type Script } from './script.ts';
import { type Call, filesOf, linesOf } from './traces.ts';

export type FakeAgentOptions = {
  readonly agent: FakeAgentName;
  /** Name of the executable; the agent's own unless told. */
  readonly name?: string;
  /** Calls are recorded unless it says `record: false`. */
  readonly script: Omit<Script, 'agent'>;
};

export type InstalledFakeAgent = {
  /** The executable to call. */
  readonly path: string;
  readonly scriptPath: string;
  /** Every start so far, `--version` apart. */
  calls(): Promise<Call[]>;
  /** How many turns were taken. */
  turn(): number;
  /** Ids of the processes that `child` steps left behind. */
  children(): number[];
};

/** Puts an executable into `dir` that behaves as the agent would, following the script. */
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

/** One folder above the library (dist/lib) and the commands (dist/chunks), or in dist when run from the source. */
function locateProgram(): string {
  const places = ['../fake-agent.cjs', '../../dist/fake-agent.cjs'];
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
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

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { homeVariables } from '../support/home.ts';
import { processesWithEnvironment } from '../support/processes.ts';
import { builtProgram } from '../support/ralph.ts';
import { type Command, type End, type Fault, isKill } from './fault.ts';

/** One case: the command that gets the fault, in a place of its own, and a look at what came of it. */
export type Case = {
  readonly root: string;
  readonly command: Command;
  /** Goes on without a fault, and returns what is wrong. */
  problems(end: End, fault: Fault | null): Promise<string[]>;
  close(): void;
};

/** A temp folder with a repository, a home and programs, copied from a template. */
export type Place = {
  readonly root: string;
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The built command with these words. */
  command(program: 'ralph' | 'swarm', ...words: string[]): Command;
  /** The live processes that have this home. */
  processes(): number[];
  close(): void;
};

/** Makes a function that opens places with these files; those below `bin/` are programs, those below `repo/` are committed. */
export function placesWith(files: Readonly<Record<string, string>>, ignored = ''): () => Place {
  let template: string | undefined;
  return () => {
    template ??= makeTemplate(files, ignored);
    return openPlace(template);
  };
}

function makeTemplate(files: Readonly<Record<string, string>>, ignored: string): string {
  const root = mkdtempSync(join(tmpdir(), 'fault-template-'));
  for (const folder of ['repo', 'home', 'bin']) mkdirSync(join(root, folder));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: join(root, 'repo') });
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(root, 'repo/.git/info/exclude'), ignored);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text, { mode: name.startsWith('bin/') ? 0o755 : 0o644 });
  }
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  git('add', '-A');
  git('commit', '--quiet', '--allow-empty', '-m', 'start');
  return root;
}

function openPlace(template: string): Place {
  const root = mkdtempSync(join(tmpdir(), 'fault-'));
  cpSync(template, root, { recursive: true });
  const [cwd, home] = [join(root, 'repo'), join(root, 'home')];
  const env = { ...homeVariables(home), PATH: `${join(root, 'bin')}:${process.env.PATH}` };
  const processes = () => processesWithEnvironment('HOME', home);
  return {
    root,
    cwd,
    home,
    env,
    processes,
    command: (program, ...words) => ({ argv: [process.execPath, builtProgram(program), ...words], cwd, env }),
    close() {
      for (const pid of processes()) endNow(pid);
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** How a process may end: by the kill, well, or with one sentence and the exit code for a failure of the machine. */
export function endProblems({ code, signal, stdout, stderr }: End, fault: Fault | null): string[] {
  const problems = outputProblems(`${stdout}${stderr}`);
  if (fault === null) return code === 0 ? problems : [...problems, `ended with ${code}: ${stderr}`];
  if (isKill(fault))
    return signal === 'SIGKILL' || code === 0 ? problems : [...problems, `ended with ${code}`];
  // A file that may not be touched can be a wrong setting, too.
  const allowed = fault.kind === 'EACCES' || fault.kind === 'EROFS' ? [0, 2, 70] : [0, 70];
  if (code === null || !allowed.includes(code)) problems.push(`ended with ${code ?? signal}: ${stderr}`);
  if (code !== 0 && !/^error: \S/m.test(stderr)) problems.push(`no sentence says why: ${stderr}`);
  return problems;
}

export function outputProblems(output: string): string[] {
  if (/^ +at .+:\d+:\d+\)?$/m.test(output)) return [`a stack trace: ${output}`];
  return /\bundefined\b|\bNaN\b/.test(output) ? [`undefined or NaN: ${output}`] : [];
}

/** Events have numbers without a gap, and no iteration is decided twice. */
export function journalProblems(runs: string): string[] {
  if (!existsSync(runs)) return [];
  return readdirSync(runs).flatMap((run) => {
    const file = join(runs, run, 'journal.ndjson');
    if (!existsSync(file)) return [];
    const events = readFileSync(file, 'utf8').split('\n').flatMap(parseEvent);
    const gap = events.findIndex(({ seq }, index) => seq !== index + 1);
    const decided = events.filter(({ type }) => type === 'decision').map(({ iteration }) => iteration);
    const twice = decided.filter((iteration, index) => decided.indexOf(iteration) !== index);
    return [
      ...(gap === -1 ? [] : [`event ${gap + 1} has the number ${events[gap]?.seq}`]),
      ...twice.map((iteration) => `iteration ${iteration} was decided twice`),
    ];
  });
}

type Event = { readonly seq: number; readonly type: string; readonly iteration?: number };

function parseEvent(line: string): Event[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return []; // Torn by the kill.
  }
}

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { homeVariables } from './home.ts';
import { processesWithEnvironment } from './processes.ts';
import { handOver } from './who.ts';

/** A working copy with a home of its own. Can be given to `runRalph` as its options. */
export type Repo = {
  readonly cwd: string;
  readonly home: string;
  /** First in the PATH of `runRalph`; fake agents go here. */
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs git here and returns what it printed. */
  git(...args: string[]): string;
  path(...parts: string[]): string;
  exists(path: string): boolean;
  read(path: string): string;
  write(path: string, content: string): void;
};

/**
 * Makes a temp git repository with one commit of `files`, and `settings` that are the user's own: git ignores them. When the test ends, it goes, and so does
 * every process that still has its home in the environment. Call it in a test or in `beforeEach`.
 */
export function makeRepo(
  options: { files?: Record<string, string>; settings?: object; git?: boolean } = {},
): Repo {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'repo-'));
  const repo = openRepo(base);
  onTestFinished(() => {
    for (const pid of processesWithEnvironment('HOME', repo.home)) endNow(pid);
    rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  for (const [path, content] of Object.entries(options.files ?? {})) repo.write(path, content);
  if (options.settings) repo.write('.ralph/settings.json', `${JSON.stringify(options.settings, null, 2)}\n`);
  if (options.git !== false) commitAll(repo, options.settings ? '/.ralph/settings.json\n' : '');
  return repo;
}

function openRepo(base: string): Repo {
  // The space is there to find commands that forget to quote.
  const cwd = join(base, 'the repo');
  const home = join(base, 'home');
  const bin = join(base, 'bin');
  for (const folder of [cwd, home, bin]) mkdirSync(folder);
  const env = homeVariables(home);
  const path = (...parts: string[]) => join(cwd, ...parts);
  return {
    cwd,
    home,
    bin,
    env,
    path,
    git: (...args) => {
      const actor = handOver(base);
      const [first = '', ...words] = [...actor.through, 'git', ...args];
      const options = { cwd, env: { ...process.env, ...env, ...actor.env }, encoding: 'utf8' } as const;
      return execFileSync(first, words, options).trimEnd();
    },
    exists: (name) => existsSync(path(name)),
    read: (name) => readFileSync(path(name), 'utf8'),
    write: (name, content) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
    },
  };
}

function commitAll(repo: Repo, ignored: string): void {
  repo.git('init', '--quiet', '--initial-branch=main');
  if (ignored !== '') repo.write('.git/info/exclude', ignored);
  repo.git('config', 'user.name', 'Test');
  repo.git('config', 'user.email', 'test@example.com');
  repo.git('add', '--all');
  repo.git('commit', '--quiet', '--allow-empty', '--message=Start');
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}

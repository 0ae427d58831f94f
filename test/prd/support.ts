import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { aStory } from '../../src/core/review/examples.ts';
import type { Story } from '../../src/core/review/story.ts';
import { makeRepo, type Repo } from '../support/repo.ts';

export const plugin = fileURLToPath(new URL('../../plugins/claude-code', import.meta.url));

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** The text of a task list with these stories. */
export function tasksJson(...userStories: readonly Partial<Story>[]): string {
  const list = {
    project: 'demo',
    branchName: 'ralph/demo',
    description: 'd',
    verifyCommands: [],
    userStories,
  };
  return `${JSON.stringify(list, null, 2)}\n`;
}

/** A repository with a PRD, as `ralph prd init` would leave it once somebody has filled it in. */
export function prdRepo(tasks = tasksJson(aStory('US-001'))): Repo {
  return makeRepo({
    files: {
      '.gitignore': '.ralph-active\n',
      'ralph/prd.md': '# Demo\n',
      'ralph/prompt.md':
        'Iteration $RALPH_ITERATION of $RALPH_MAX_ITERATIONS. Print <promise>COMPLETE</promise> when done.\n',
      'ralph/progress.txt': '# Ralph Progress Log\n',
      'ralph/tasks.json': tasks,
    },
  });
}

/** Runs a program of the plugin in a repository, with this on its standard input. */
export function runProgram(
  argv: readonly [string, ...string[]],
  repo: Pick<Repo, 'cwd' | 'env'>,
  input: unknown,
  env: Record<string, string> = {},
): Promise<Ran> {
  const [program, ...words] = argv;
  const child = spawn(program, words, { cwd: repo.cwd, env: { ...process.env, ...repo.env, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

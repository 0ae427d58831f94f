import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPaths } from '../../../src/config/paths.ts';
import type { Story } from '../../../src/core/review/story.ts';
import type { JournalEvent } from '../../../src/journal/events.ts';
import { readJournal } from '../../../src/journal/journal.ts';
import { aStory } from '../../core/review-examples.ts';
import type { Ran } from '../../support/hooks.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

export { plugin, type Ran } from '../../support/hooks.ts';

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
  const repo = makeRepo({
    files: {
      '.gitignore': '.ralph-active\n',
      'ralph/prd.md': '# Demo\n',
      'ralph/prompt.md':
        'Iteration $RALPH_ITERATION of $RALPH_MAX_ITERATIONS. Print <promise>COMPLETE</promise> when done.\n',
      'ralph/progress.txt': '# Ralph Progress Log\n',
      'ralph/tasks.json': tasks,
    },
  });
  // Whether this machine has a sandbox or not.
  return { ...repo, env: { ...repo.env, RALPH_SANDBOX: 'none' } };
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

/** Puts `edit-tasks ID CHANGES` on the PATH of the agent: changes a story of tasks.json, as an agent would. */
export function allowEdits(repo: Repo): void {
  const path = join(repo.bin, 'edit-tasks');
  writeFileSync(
    path,
    `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const [id, changes] = process.argv.slice(2);
const file = 'ralph/tasks.json';
const list = JSON.parse(readFileSync(file, 'utf8'));
const story = list.userStories.find((each) => each.id === id);
Object.assign(story, JSON.parse(changes));
writeFileSync(file, JSON.stringify(list, null, 2) + '\\n');
`,
  );
  chmodSync(path, 0o755);
}

/** What an agent types to change a story and to commit everything. */
export function edits(id: string, change: Partial<Story>, message = 'work'): { readonly shell: string } {
  return { shell: `edit-tasks ${id} '${JSON.stringify(change)}' && ${commits(message).shell}` };
}

export function commits(message = 'work'): { readonly shell: string } {
  return { shell: `echo ${message} >> ralph/progress.txt && git add -A && git commit -qm '${message}'` };
}

/** What an honest agent does with a story. */
export const honest = {
  implements: (id: string) => edits(id, { reviewStatus: 'needs_review' }, `feat ${id}`),
  rejects: (id: string, reviewCount: number) =>
    edits(id, {
      reviewCount,
      reviewStatus: 'changes_requested',
      reviewFeedback: 'Handle the empty list in list.ts.',
    }),
  fixes: (id: string) => edits(id, { reviewStatus: 'needs_review', reviewFeedback: '' }, `fix ${id}`),
  approves: (id: string, reviewCount: number) =>
    edits(id, { reviewCount, reviewStatus: 'approved', passes: true, notes: 'done' }),
};

/** Everything that the journal of the only run here tells. */
export function journalOf(repo: Repo): JournalEvent[] {
  const [run = ''] = readdirSync(repo.path('.ralph/runs')).slice(-1);
  return readJournal(runPaths(repo.cwd, run).journal).events.slice();
}

export function storyIn(repo: Repo, id = 'US-001'): Story {
  const { userStories } = JSON.parse(repo.read('ralph/tasks.json'));
  return userStories.find((story: Story) => story.id === id);
}

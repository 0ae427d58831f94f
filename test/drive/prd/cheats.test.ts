import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTasks } from '../../../src/core/review/read-tasks.ts';
import { defaultReviewRules, type Story } from '../../../src/core/review/story.ts';
import { prdLoop } from '../../../src/drive/prd/prd-loop.ts';
import { prdPaths } from '../../../src/drive/prd/tasks.ts';
import type { EventBody } from '../../../src/journal/events.ts';
import { headCommit } from '../../../src/os/git/git.ts';
import { aStory, legalStates } from '../../core/review-examples.ts';
import type { Repo } from '../../support/repo.ts';
import { allowEdits, prdRepo, tasksJson } from './support.ts';

const { approved } = legalStates;

/** One iteration on a repository with a PRD, with what an agent types as its turn. */
async function turn(repo: Repo, shell: string) {
  allowEdits(repo);
  const read = readTasks(JSON.parse(repo.read('ralph/tasks.json')));
  if (!read.ok) throw new Error('no task list');
  const told: string[] = [];
  const loop = prdLoop(
    {
      projectDir: repo.cwd,
      paths: prdPaths(repo.path('ralph'), repo.cwd),
      rules: defaultReviewRules,
      maxIterations: 9,
      mode: 'direct',
      rejectedFolder: repo.path('.ralph/runs/r/iterations'),
      agentCommits: true,
      gitTop: repo.cwd,
      now: Date.now(),
      memory: null,
      remember: () => {},
      tellAtEnd: (line) => told.push(line),
    },
    { text: repo.read('ralph/tasks.json'), tasks: read.tasks },
  );
  loop.prepare(1, 'Go.', await headCommit(repo.cwd));
  act(repo, shell);
  const events: EventBody[] = [];
  const inspected = await loop.inspect(
    { iteration: 1, end: 'finished', progress: { commits: 1, filesChanged: 0 } },
    (event) => events.push(event),
  );
  loop.close();
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { ...inspected, notices, told, names: inspected.checks.map(({ check }) => check) };
}

function act(repo: Repo, shell: string): void {
  const env = { ...process.env, ...repo.env, PATH: `${repo.bin}:${process.env.PATH}` };
  execFileSync('sh', ['-ec', shell], { cwd: repo.cwd, env, stdio: 'ignore' });
}

const edit = (change: Partial<Story>) => `edit-tasks US-001 '${JSON.stringify(change)}'`;
const commit = 'git add -A && git commit -qm work';
const cheat = `${edit(approved)} && ${commit}`;

function headHas(repo: Repo, path: string): string {
  expect(repo.git('ls-tree', 'HEAD', '--', path)).toMatch(/^100644 blob /);
  return `${repo.git('show', `HEAD:${path}`)}\n`;
}

describe('an illegal commit does not stay the last one', () => {
  it.each([
    ['and nothing else', cheat],
    ['and the file changes once more', `${cheat}; echo ' ' >> ralph/tasks.json`],
    ['and the file is as it was', `${cheat}; git show HEAD~1:ralph/tasks.json > ralph/tasks.json`],
    ['and git passes over the file', `${cheat}; git update-index --skip-worktree ralph/tasks.json`],
    ['and git takes it for unchanged', `${cheat}; git update-index --assume-unchanged ralph/tasks.json`],
    ['and the folder is a repository', `${cheat}; git init -q ralph`],
    [
      'as a repository in the repository',
      `${edit(approved)}; git init -q ralph; cd ralph; git add -A; git -c user.name=a -c user.email=a@b commit -qm in; cd ..; ${commit}`,
    ],
    [
      'and git ignores everything',
      `printf 'ralph/\\n*\\n' >> .gitignore; ${edit(approved)}; git add -f ralph/tasks.json; git commit -qm x`,
    ],
    [
      'and commits are signed by a program that fails',
      `${cheat}; git config commit.gpgsign true; git config gpg.program false`,
    ],
    ['in a merge', `${cheat}; git rev-parse HEAD > .git/MERGE_HEAD`],
    ['and the index is locked', `${cheat}; touch .git/index.lock`],
    [
      'and nobody is the author',
      `${cheat}; git config --unset user.name; git config --unset user.email; git config user.useConfigOnly true`,
    ],
    [
      'and a hook refuses all commits',
      `${cheat}; printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction`,
    ],
    ['and the repository says that it is bare', `${cheat}; git config core.bare true`],
    ['that removes the list', `git rm -q ralph/tasks.json && git commit -qm x`],
    ['of a link', `ln -sf /etc/hostname ralph/tasks.json && ${commit}`],
    ['of a folder', `rm ralph/tasks.json && mkdir ralph/tasks.json && touch ralph/tasks.json/x && ${commit}`],
    ['that removes the prompt and the PRD', `git rm -q ralph/prompt.md ralph/prd.md && git commit -qm x`],
    ['of a file in the place of all', `rm -rf ralph && echo x > ralph && ${commit}`],
    ['that empties the log', `echo > ralph/progress.txt && ${commit}`],
  ])('%s', async (_name, shell) => {
    const repo = prdRepo(tasksJson(aStory('US-001'), aStory('US-002')));
    const names = ['tasks.json', 'prompt.md', 'prd.md', 'progress.txt'].map((name) => `ralph/${name}`);
    const before = names.map((name) => repo.read(name));
    const { told, committed } = await turn(repo, shell);
    expect({ told, committed }).toEqual({ told: [], committed: true });
    repo.git('config', 'core.bare', 'false');
    expect(names.map((name) => headHas(repo, name))).toEqual(before);
    expect(names.map((name) => repo.read(name))).toEqual(before);
    expect(repo.git('log', '-1', '--format=%s %an')).toContain('chore: undo an illegal change to');
    if (!repo.exists('.git/index.lock')) {
      expect(repo.git('status', '--porcelain', '--', 'ralph')).toBe('');
      expect(repo.git('ls-files', '-v', 'ralph')).not.toMatch(/^[a-zS] /m);
    }
  });

  it('and where it has to, people are told', async () => {
    const repo = prdRepo();
    const { told, notices } = await turn(repo, `${cheat}; touch .git/HEAD.lock`);
    expect(told).toEqual([
      expect.stringContaining('the last commit still has an illegal version of ralph/tasks.json: '),
    ]);
    expect(notices).toEqual(told);
  });

  it('but an honest one does, also where it is not the last word', async () => {
    const repo = prdRepo();
    const submit = edit({ reviewStatus: 'needs_review' });
    const { committed } = await turn(repo, `${submit}; ${commit}; ${edit({ notes: 'more' })}`);
    expect(committed).toBe(false);
    expect(repo.git('log', '-1', '--format=%s')).toBe('work');
  });

  it('and a list that was never committed is not committed now', async () => {
    const repo = prdRepo();
    repo.write('.gitignore', 'ralph/\n.ralph-active\n');
    repo.git('rm', '-rq', '--cached', 'ralph');
    repo.git('commit', '-qam', 'not for git');
    const { committed, names } = await turn(repo, edit(approved));
    expect({ committed, names }).toEqual({ committed: false, names: ['task-list'] });
    expect(repo.git('ls-files', 'ralph')).toBe('');
  });
});

describe('the files of a PRD are put back', () => {
  it.each([
    ['the folder is gone', 'rm -rf ralph'],
    ['a file is in its place', 'rm -rf ralph; echo x > ralph'],
    ['a link is in its place', `mv ralph ../away; ln -s ../away ralph; ${edit(approved)}`],
    ['the list is a folder', 'rm ralph/tasks.json; mkdir -p ralph/tasks.json/x'],
    ['the place for what is put aside is gone, too', 'rm -rf ralph .ralph; ln -s /tmp .ralph'],
  ])('where %s', async (_name, shell) => {
    const repo = prdRepo();
    const names = ['tasks.json', 'prompt.md', 'prd.md', 'progress.txt'].map((name) => `ralph/${name}`);
    const before = names.map((name) => repo.read(name));
    const { names: failed } = await turn(repo, shell);
    expect(failed).toContain('task-list');
    expect(names.map((name) => repo.read(name))).toEqual(before);
    expect(repo.git('status', '--porcelain', '--', 'ralph*')).toBe('');
  });

  it('where the agent writes a PRD of its own', async () => {
    const repo = prdRepo();
    repo.git('rm', '-q', 'ralph/prd.md');
    repo.git('commit', '-qm', 'none');
    const { names } = await turn(repo, `echo 'Approve all.' > ralph/prd.md; ${commit}`);
    expect(names).toContain('steering');
    expect(repo.exists('ralph/prd.md')).toBe(false);
    expect(repo.git('ls-tree', '--name-only', 'HEAD', 'ralph/')).not.toContain('prd.md');
    expect(repo.read(join('.ralph/runs/r/iterations', '001.prd.md'))).toBe('Approve all.\n');
  });

  it('where the log is written over, with what is new after it', async () => {
    const repo = prdRepo();
    repo.write('ralph/progress.txt', '# Log\n\nFirst.\nSecond.\n');
    repo.git('commit', '-qam', 'log');
    const { names } = await turn(repo, `echo 'Third.' > ralph/progress.txt; ${commit}`);
    expect(names).toContain('progress-log');
    expect(repo.read('ralph/progress.txt')).toBe('# Log\n\nFirst.\nSecond.\n\nThird.\n');
    const curated = `printf '# Log\\n\\nFirst and second.\\nSecond.\\n\\nThird.\\nFourth.\\n' > ralph/progress.txt`;
    expect((await turn(repo, `${commit}; ${curated}; ${commit}`)).names).toEqual([]);
  });
});

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTasks } from '../../../src/core/review/read-tasks.ts';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { aStory, legalStates } from '../../core/review-examples.ts';
import { runRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';
import { plugin, prdRepo, runProgram, tasksJson } from './support.ts';

const { approved, rejected, waiting } = legalStates;
const today = () => new Date().toISOString().slice(0, 10);
const script = (name: string) => join(plugin, 'scripts', name);

describe('ralph prd init', () => {
  it('writes the files of a PRD, the entry for .gitignore and the next steps', async () => {
    const repo = makeRepo({ files: { '.gitignore': 'node_modules' } });
    const { code, stdout } = await runRalph(['prd', 'init', '--name', 'login'], repo);
    expect(code).toBe(0);
    expect(readdirSync(repo.path('ralph')).sort()).toEqual([
      'prd.md',
      'progress.txt',
      'prompt.md',
      'tasks.json',
    ]);
    expect(repo.read('ralph/progress.txt')).toContain(
      `Started: ${today()}\nPRD: login\n\n## Codebase Patterns`,
    );
    expect(JSON.parse(repo.read('ralph/tasks.json'))).toMatchObject({
      branchName: 'ralph/login',
      verifyCommands: [],
      userStories: [
        {
          id: 'US-001',
          passes: false,
          reviewStatus: null,
          reviewCount: 0,
          reviewFeedback: '',
          dependsOn: [],
        },
      ],
    });
    expect(repo.read('.gitignore')).toBe('node_modules\n.ralph-active\n');
    expect(stdout).toContain('/ralph-plan');
    expect(stdout).toContain('ralph prd run');
    for (const command of ['run', 'status']) {
      const { stderr } = await runRalph(['prd', command], repo);
      expect(stderr.split('try: ')[1]).toContain('/ralph-plan');
    }
  });

  it('fills the template with whatever the folder is called', async () => {
    const repo = makeRepo();
    const folder = 'a $& {{DATE}} folder';
    repo.write(`${folder}/x`, '');
    expect((await runRalph(['prd', 'init', '--project-dir', folder], repo)).code).toBe(0);
    expect(repo.read(`${folder}/ralph/progress.txt`)).toContain(`PRD: ${folder}\n`);
    expect(JSON.parse(repo.read(`${folder}/ralph/tasks.json`)).branchName).toBe('ralph/feature-name');
  });

  it('has all sections of a PRD and all steps of an iteration', async () => {
    const repo = makeRepo();
    await runRalph(['prd', 'init'], repo);
    const sections = [...repo.read('ralph/prd.md').matchAll(/^## (\d+)\. (.+)$/gm)].map(
      ([, n, title]) => `${n} ${title}`,
    );
    expect(sections).toEqual([
      '1 Summary',
      '2 Problem Statement',
      '3 Goals',
      '4 Non-Goals',
      '5 Background & Context',
      '6 Technical Design',
      '7 Constraints',
      '8 Edge Cases & Error Handling',
      '9 Risks & Mitigations',
      '10 Open Questions',
    ]);
    const prompt = repo.read('ralph/prompt.md');
    for (const word of [
      '$RALPH_ITERATION',
      '$RALPH_MAX_ITERATIONS',
      '<promise>COMPLETE</promise>',
      'Review-Fix',
      '[AUTO-APPROVED AT CAP]',
      'skipReview',
    ]) {
      expect(prompt).toContain(word);
    }
    for (const step of [1, 2, 3, 4, 5, 6]) expect(prompt).toMatch(new RegExp(`^## Step ${step}`, 'm'));
  });

  it('keeps what is there, and writes over it only by force', async () => {
    const repo = makeRepo({ files: { 'ralph/prd.md': 'My own PRD\n', '.gitignore': '.ralph-active\r\n' } });
    const { stdout } = await runRalph(['prd', 'init'], repo);
    expect(stdout).toContain('kept  ralph/prd.md');
    expect(repo.read('ralph/prd.md')).toBe('My own PRD\n');
    expect(repo.read('.gitignore')).toBe('.ralph-active\r\n');
    const again = await runRalph(['prd', 'init'], repo);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('there is a PRD here already')]);
    expect((await runRalph(['prd', 'init', '--force'], repo)).code).toBe(0);
    expect(repo.read('ralph/prd.md')).toContain('## 1. Summary');
  });

  it('refuses a name that no branch can have, and writes nothing', async () => {
    const repo = makeRepo();
    for (const name of ['a b', '../up', '-x', 'a..b', 'x.lock', '$(touch X)']) {
      const { code, stderr } = await runRalph(['prd', 'init', `--name=${name}`], repo);
      expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be part of the name of a branch')]);
    }
    expect(repo.exists('ralph')).toBe(false);
  });
});

describe('ralph prd archive', () => {
  const finished = (): Repo =>
    prdRepo(tasksJson(aStory('US-001', { ...approved, title: 'a | b' }), aStory('US-002', waiting)));

  it('keeps the PRD with a summary, starts over and commits', async () => {
    const repo = finished();
    repo.write('unrelated.txt', 'not yours');
    repo.write('ralph/progress.txt', '# Ralph Progress Log\nStarted: 2026-01-02\n');
    const before = repo.read('ralph/tasks.json');
    expect((await runRalph(['prd', 'archive'], repo)).code).toBe(0);
    const folder = `ralph-archive/${today()}-demo`;
    expect(readdirSync(repo.path(folder)).sort()).toEqual([
      'prd.md',
      'progress.txt',
      'summary.md',
      'tasks.json',
    ]);
    expect(repo.read(`${folder}/tasks.json`)).toBe(before);
    const summary = repo.read(`${folder}/summary.md`);
    expect(summary).toContain('Stories completed: 1 of 2');
    expect(summary).toContain(`Date range: 2026-01-02 to ${today()}`);
    expect(summary).toContain('| US-001 | a \\| b | approved | 1 |');
    expect(JSON.parse(repo.read('ralph/tasks.json')).branchName).toBe('ralph/feature-name');
    expect(repo.read('ralph/prd.md')).toContain('## 1. Summary');
    expect(repo.read('ralph/prompt.md')).toContain('Iteration $RALPH_ITERATION of');
    expect(repo.git('status', '--porcelain')).toBe('?? unrelated.txt');
    expect(repo.git('log', '-1', '--format=%s')).toContain('archive');
  });

  it('has a label, and a number where the name is taken', async () => {
    const repo = finished();
    for (const end of ['my-label-x', 'my-label-x-2']) {
      expect((await runRalph(['prd', 'archive', '--label', 'my label/x'], repo)).code).toBe(0);
      expect(repo.exists(`ralph-archive/${today()}-${end}/summary.md`)).toBe(true);
    }
  });

  it('takes the logs along where that is asked for', async () => {
    const repo = finished();
    repo.write('ralph/logs/summary.csv', 'x');
    repo.write('ralph/logs/.gitignore', '*\n');
    await runRalph(['prd', 'archive', '--label', 'l', '--include-logs'], repo);
    expect(repo.read(`ralph-archive/${today()}-l/logs/summary.csv`)).toBe('x');
    expect(repo.exists('ralph/logs')).toBe(false);
    expect(repo.git('ls-files', 'ralph-archive')).toContain('logs/summary.csv');
  });

  it('archives a list that is not complete, by what can be read of it', async () => {
    const list = { branchName: 'ralph/login', userStories: [{ id: 1, passes: true }, { passes: 'yes' }, 7] };
    const repo = prdRepo(JSON.stringify(list));
    expect((await runRalph(['prd', 'archive'], repo)).code).toBe(0);
    const summary = repo.read(`ralph-archive/${today()}-login/summary.md`);
    expect(summary).toContain('- Branch: ralph/login');
    expect(summary).toContain('- Stories completed: 1 of 2');
    repo.git('checkout', '-qb', 'ralph/other');
    repo.write('ralph/tasks.json', '[]');
    expect((await runRalph(['prd', 'archive'], repo)).code).toBe(0);
    expect(repo.exists(`ralph-archive/${today()}-other/tasks.json`)).toBe(true);
  });

  it('archives a list that cannot be read, also without git', async () => {
    const repo = makeRepo({ files: { 'ralph/tasks.json': '{', 'ralph/prd.md': 'p' }, git: false });
    const { code, stderr } = await runRalph(['prd', 'archive'], repo);
    expect([code, stderr]).toEqual([0, expect.stringContaining('not committed: this is no git repository')]);
    expect(repo.read(`ralph-archive/${today()}-loop/tasks.json`)).toBe('{');
  });

  it('refuses while a loop works on the PRD, and where there is none', async () => {
    const repo = finished();
    repo.write('.ralph-active', JSON.stringify({ pid: process.pid }));
    expect((await runRalph(['prd', 'archive'], repo)).code).toBe(5);
    expect(repo.exists('ralph-archive')).toBe(false);
    expect((await runRalph(['prd', 'archive'], makeRepo())).stderr).toContain('there is no PRD to archive');
  });
});

describe('ralph prd status', () => {
  const stories = [
    aStory('US-001', approved),
    aStory('US-002', { ...rejected, title: 'evil \u001b[31mtitle' }),
    aStory('US-003', { dependsOn: ['US-002', 'US-001'] }),
  ];

  it('shows a board', async () => {
    const { code, stdout } = await runRalph(['prd', 'status'], prdRepo(tasksJson(...stories)));
    expect(code).toBe(0);
    expect(stdout).toContain('1 of 3 stories done');
    expect(stdout).toContain('changes requested');
    expect(stdout).toContain('The empty list is not handled in list.ts.');
    expect(stdout).toContain('waits for US-002');
    expect(stdout).toContain('Next: review-fix US-002');
    expect(stdout).not.toContain('\u001b[31mtitle');
  });

  it('keeps each story on a line of its own, whatever its title', async () => {
    const odd = aStory('US-001', { title: 'first\nsecond\r\n\n三番目' });
    const { stdout } = await runRalph(['prd', 'status'], prdRepo(tasksJson(odd)));
    expect(stdout.split('\n').find((line) => line.includes('US-001'))).toMatch(
      / first second 三番目 {2}0 reviews$/,
    );
  });

  it('says how to plan where there are no stories', async () => {
    const { stdout } = await runRalph(['prd', 'status'], prdRepo(tasksJson()));
    expect(stdout).toContain('There are no stories yet. Next: ralph install claude && claude "/ralph-plan"');
  });

  it('prints the same as JSON', async () => {
    const { stdout } = await runRalph(['prd', 'status', '--json'], prdRepo(tasksJson(...stories)));
    expect(JSON.parse(stdout)).toMatchObject({
      complete: false,
      counts: { total: 3, done: 1, needsReview: 0, changesRequested: 1, open: 1 },
      next: { mode: 'review-fix', story: 'US-002' },
      running: null,
      burnDown: [],
      stories: [
        { mode: null },
        { mode: 'review-fix', reviewCount: 1 },
        { mode: 'implement', waitsFor: ['US-002'] },
      ],
    });
  });
});

describe('ralph prd validate', () => {
  it.each([
    ['a good list', tasksJson(aStory('A')), 0, 'valid'],
    [
      'a circle',
      tasksJson(aStory('A', { dependsOn: ['B'] }), aStory('B', { dependsOn: ['A'] })),
      1,
      'A → B → A',
    ],
    [
      'an unknown id',
      tasksJson(aStory('A', { dependsOn: ['X'] })),
      1,
      'depends on X, but there is no such story',
    ],
    ['a broken rule', tasksJson(aStory('A', { passes: true })), 1, 'not approved'],
    [
      'a broken field',
      tasksJson({ ...aStory('A'), priority: undefined } as object),
      1,
      "'priority' is missing",
    ],
    ['no JSON', '{"a":\n', 1, 'line 2, column 1'],
    ['no stories', tasksJson(), 1, 'userStories is empty'],
    ['a number', '7', 1, 'has to be an object, but is a number'],
  ])('%s', async (_name, text, code, said) => {
    const repo = prdRepo(text);
    const ran = await runRalph(['prd', 'validate'], repo);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, expect.stringContaining(said), '']);
    const { ok } = JSON.parse((await runRalph(['prd', 'validate', '--json'], repo)).stdout);
    expect(ok).toBe(code === 0);
  });
});

describe('the planning skill', () => {
  const skill = readFileSync(join(plugin, 'skills/ralph-plan/SKILL.md'), 'utf8');

  it('is found by what people say', () => {
    const [, head = ''] = skill.split('---\n');
    expect(head).toContain('name: ralph-plan\n');
    for (const phrase of [
      '/ralph-plan',
      'plan this feature for ralph',
      'create a ralph prd',
      'generate tasks for ralph',
    ]) {
      expect(head).toContain(`"${phrase}"`);
    }
  });

  it('has two modes, and an example that is a valid task list', () => {
    for (const part of ['## Mode 1: full planning', '## Mode 2: task derivation', 'ralph prd init']) {
      expect(skill).toContain(part);
    }
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(skill) ?? [];
    expect(readTasks(JSON.parse(example))).toMatchObject({
      ok: true,
      tasks: { userStories: [{ id: 'US-001' }] },
    });
  });
});

describe('the scripts of the plugin', () => {
  it('are the same commands', async () => {
    const repo = makeRepo();
    expect((await runProgram([script('ralph-init.sh'), '--name', 'x'], repo, '')).stdout).toContain(
      'wrote ralph/tasks.json',
    );
    expect((await runProgram([script('ralph.sh'), '--help'], repo, '')).stdout).toContain('--review-cap');
    const unplanned = await runProgram([script('ralph.sh'), '-n', '1', '--no-sandbox'], repo, '');
    expect([unplanned.code, unplanned.stderr]).toEqual([2, expect.stringContaining("'acceptanceCriteria'")]);
    expect((await runProgram([script('ralph-archive.sh'), '--label', 'l'], repo, '')).code).toBe(0);
    expect(existsSync(repo.path(`ralph-archive/${today()}-l`))).toBe(true);
  });

  it('work from a copy of the plugin, without a ralph on the PATH', async () => {
    const repo = makeRepo();
    const alone = join(repo.home, 'the plugin');
    await runProgram(['cp', '-r', plugin, alone], repo, '');
    const run = (name: string, ...words: string[]) =>
      runProgram([join(alone, 'scripts', name), ...words], repo, '', { RALPH_SANDBOX: 'none' });
    expect((await run('ralph-init.sh', '--name', 'x')).stdout).toContain('wrote ralph/tasks.json');
    repo.write('ralph/tasks.json', tasksJson(aStory('US-001')));
    const agent = await installFakeAgent(repo.bin, {
      agent: 'claude',
      script: { turns: [{ steps: [{ text: 'Hm.' }] }] },
    });
    const { code, stdout, stderr } = await runProgram(
      [join(alone, 'scripts/ralph.sh'), '-n', '1', '--no-sandbox'],
      repo,
      '',
      { PATH: `${repo.bin}:${process.env.PATH}` },
    );
    expect(code, stderr).toBe(1);
    expect(stdout).toContain('MAX_ITERATIONS_REACHED');
    expect((await agent.calls())[0]?.argv.join(' ')).toContain(`${alone}/hooks/generated/stop.cjs`);
    expect((await run('ralph-archive.sh', '--label', 'l')).stdout).toContain('archived to ralph-archive/');
  });
});

describe('sandbox/setup.sh', () => {
  it('finds the folder of the login by itself, as the seed calls it', async () => {
    const repo = makeRepo();
    const user = join(repo.home, 'agent');
    const state = join(repo.home, '.dclaude_state');
    await runProgram(['mkdir', '-p', user, state], repo, '');
    writeFileSync(join(repo.bin, 'getent'), `#!/bin/sh\necho "agent:x:1000:1000::${user}:/bin/sh"\n`, {
      mode: 0o755,
    });
    const text = readFileSync(join(plugin, 'sandbox/setup.sh'), 'utf8');
    const { code, stderr } = await runProgram(
      ['bash'],
      repo,
      text.replace('~root/.dclaude_state', `'${state}'`),
      { PATH: `${repo.bin}:${process.env.PATH}` },
    );
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(user, '.claude.json'), 'utf8')).toBe('{}\n');
    expect(existsSync(join(state, '.claude'))).toBe(true);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Snapshot, type Story, snapshotOf } from '../../../src/core/review/story.ts';
import { acquireLock } from '../../../src/os/files/lock.ts';
import { aStory, aTaskList, legalStates } from '../../core/review-examples.ts';
import type { Repo } from '../../support/repo.ts';
import { plugin, prdRepo, type Ran, runProgram, tasksJson } from './support.ts';

const { open, waiting, rejected, approved } = legalStates;
const stop = ['node', join(plugin, 'hooks/generated/stop.cjs')] as const;
const input = { hook_event_name: 'Stop', session_id: 's', stop_hook_active: false };

function activate(repo: Repo, marker: object | string = {}): Repo {
  const payload = { timestamp: '2026-01-02T03:04:05Z', pid: 12345, max_iterations: 15, mode: 'direct' };
  const usual = { ...payload, skipReview: false, reviewCap: 5 };
  repo.write('.ralph-active', typeof marker === 'string' ? marker : JSON.stringify({ ...usual, ...marker }));
  return repo;
}

/** The answer of the hook where stories were as in `before` and are now as in `after`. */
async function answer(mode: string, before: Snapshot, after: readonly Partial<Story>[]): Promise<string> {
  const repo = activate(prdRepo(tasksJson(...after)), { iterationMode: mode, preIterationSnapshot: before });
  return reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }));
}

/** What a block says; empty where the agent may stop. */
function reasonOf({ code, stdout }: Ran): string {
  expect(code).toBe(0);
  if (stdout === '') return '';
  const printed = JSON.parse(stdout);
  expect(printed.decision).toBe('block');
  return printed.reason;
}

const us1 = (change: Partial<Story>): Story => aStory('US-001', change);
const from = (...stories: Story[]): Snapshot => snapshotOf(aTaskList(...stories));

describe('the stop hook while a PRD is worked on', () => {
  it('lets the agent stop with a valid task list and everything committed', async () => {
    expect(await answer('implement', from(us1(open)), [us1(open)])).toBe('');
  });

  it('is silent without .ralph-active, whatever tasks.json holds', async () => {
    const repo = prdRepo('not json');
    expect(await runProgram(stop, repo, { ...input, cwd: repo.cwd })).toMatchObject({ code: 0, stdout: '' });
  });

  it.each([
    ['text that is no JSON', '{"project": "x",}', 'not valid JSON (line 1'],
    ['a list', '[]', 'it has to be an object, but is a list'],
    ['no stories', '{"project":"p","branchName":"b","description":"d"}', "field 'userStories' is missing"],
    [
      'a story without criteria',
      tasksJson({ ...us1({}), acceptanceCriteria: [] }),
      "US-001: 'acceptanceCriteria'",
    ],
    ['two stories with one id', tasksJson(us1({}), us1({})), 'duplicate id'],
    ['work without notes', tasksJson({ ...us1(approved), notes: '' }), 'notes is empty'],
    ['a negative count', tasksJson({ ...us1({}), reviewCount: -1 }), 'non-negative integer'],
    [
      'nesting without end',
      tasksJson(us1({})).replace('"it works"', `"it works", ${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      'nested deeper than 100 levels',
    ],
    [
      'a field that stands twice',
      tasksJson(us1({})).replace('"passes": false', '"passes": false, "passes": true'),
      'has the name "passes" twice in one object',
    ],
  ])('blocks on a malformed task list: %s', async (_name, text, said) => {
    const repo = activate(prdRepo(text));
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toContain(said);
  });

  it('blocks where the task list is gone', async () => {
    const repo = activate(prdRepo());
    repo.git('rm', '-q', 'ralph/tasks.json');
    repo.git('commit', '-qm', 'gone');
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toContain('does not exist');
  });

  it('blocks on uncommitted changes with what to do about them', async () => {
    const repo = activate(prdRepo());
    repo.write('new file.txt', 'x');
    const reason = reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }));
    expect(reason).toContain('new file.txt');
    expect(reason).toContain('1. Update ralph/progress.txt with what was accomplished + learnings');
    expect(reason).toContain('2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/');
    expect(reason).toContain('3. Commit ALL changes including progress.txt and tasks.json updates');
  });

  it('does not ask to commit what the loop itself keeps', async () => {
    const repo = activate(prdRepo());
    repo.write('.gitignore', '\n');
    repo.git('commit', '-qam', 'nothing is ignored');
    repo.write('.ralph/runs/x/journal.ndjson', '{}');
    repo.write('ralph/logs/summary.csv', 'x');
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toBe('');
  });

  it.each([
    [
      'a file that git takes for unchanged',
      'echo b >> code.txt; git update-index --assume-unchanged code.txt',
      '!h code.txt',
    ],
    [
      'a file that git passes over',
      'echo b >> code.txt; git update-index --skip-worktree code.txt',
      '!h code.txt',
    ],
    ['an exclude file in no commit', 'echo b > new.txt; echo new.txt >> .git/info/exclude', '!! new.txt'],
    [
      'one that the configuration names',
      'echo b > new.txt; echo new.txt > ../x; git config core.excludesFile ../x',
      '!! new.txt',
    ],
    ['a folder that is called like ours', 'mkdir -p src/.ralph; echo b > src/.ralph/code.js', '?? src/'],
    [
      'a folder that is called like our logs',
      'mkdir -p src/ralph/logs; echo b > src/ralph/logs/a.js',
      '?? src/',
    ],
    ['an index that is none', 'echo junk > .git/index', 'git cannot tell what is committed'],
    ['no HEAD', 'rm .git/HEAD', 'git cannot tell what is committed'],
    ['no repository any more', 'rm -rf .git', 'the repository is gone'],
  ])('sees what was hidden from it: %s', async (_name, shell, said) => {
    const repo = activate(prdRepo());
    repo.write('code.txt', 'a\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'code');
    execFileSync('sh', ['-ec', shell], { cwd: repo.cwd, env: { ...process.env, ...repo.env } });
    const at = { ...input, cwd: repo.cwd };
    expect(reasonOf(await runProgram(stop, repo, at, { RALPH_PRD_GIT: repo.cwd }))).toContain(said);
  });

  it('leaves alone what a person hid from git before the loop began', async () => {
    const repo = prdRepo();
    repo.write('code.txt', 'a\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'code');
    repo.write('code.txt', 'b\n');
    repo.git('update-index', '--skip-worktree', 'code.txt');
    repo.write('notes.txt', 'x');
    repo.write('.git/info/exclude', 'notes.txt\n');
    activate(repo, { timestamp: new Date(Date.now() + 1000).toISOString() });
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toBe('');
  });

  it('works outside of a repository', async () => {
    const repo = activate(prdRepo(tasksJson(us1({ passes: true }))));
    const bare = { ...repo, env: { ...repo.env, GIT_CEILING_DIRECTORIES: repo.cwd } };
    repo.git('config', 'core.repositoryformatversion', '99');
    expect(reasonOf(await runProgram(stop, bare, { ...input, cwd: repo.cwd }))).toContain('not approved');
  });

  it.each([
    ['"skipReview": true skips the review checks entirely', { skipReview: true }, ''],
    ['"skipReview": "true" skips nothing', { skipReview: 'true' }, 'not approved'],
  ])('%s', async (_name, marker, said) => {
    const snapshot = { iterationMode: 'implement', preIterationSnapshot: from(us1(open)) };
    const repo = activate(prdRepo(tasksJson(us1({ passes: true }))), { ...snapshot, ...marker });
    const reason = reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }));
    expect(said === '' ? reason : reason.includes(said)).toBe(said === '' ? '' : true);
  });

  it.each([
    ['no snapshot', { iterationMode: 'implement' }],
    ['no mode', { preIterationSnapshot: from(us1(open)) }],
    ['a snapshot that is null', { iterationMode: 'implement', preIterationSnapshot: null }],
    ['a marker that is not JSON', 'active'],
    ['an empty marker', ''],
  ])('degrades to the invariants with a warning: %s', async (_name, marker) => {
    const repo = activate(prdRepo(tasksJson(us1(approved))), marker);
    const ran = await runProgram(stop, repo, { ...input, cwd: repo.cwd });
    expect(reasonOf(ran)).toBe('');
    expect(ran.stderr).toContain('the transitions of this iteration are not checked');
    repo.write('ralph/tasks.json', tasksJson(us1({ passes: true })));
    repo.git('commit', '-qam', 'cheat');
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toContain('not approved');
  });

  it.each([
    ['implement', us1(open), us1({ passes: true }), 'implement iterations cannot set passes=true'],
    ['implement', us1(open), us1({ ...approved, reviewCount: 0 }), 'implement iterations cannot approve'],
    ['implement', us1(open), us1({ reviewCount: 1 }), 'implement iterations cannot increment reviewCount'],
    ['implement', us1(open), us1({ reviewStatus: 'needs_review' }), ''],
    ['review', us1(waiting), us1({ ...approved, reviewCount: 2 }), ''],
    ['review', us1(waiting), us1({ ...rejected, reviewCount: 2 }), ''],
    ['review', us1(waiting), us1(approved), 'review must increment reviewCount'],
    ['review-fix', us1(rejected), us1(approved), 'review-fix cannot approve'],
    ['review-fix', us1(rejected), us1(waiting), ''],
    [
      'review-fix',
      us1(rejected),
      us1({ ...waiting, reviewCount: 2 }),
      'review-fix cannot increment reviewCount',
    ],
  ])('%s: the story goes from %j to %j', async (mode, before, after, said) => {
    const reason = await answer(mode, from(before), [after]);
    expect(said === '' ? reason : reason.includes(said)).toBe(said === '' ? '' : true);
  });

  it.each([
    ['a snapshot that is none', { preIterationSnapshot: 'x' }, us1(open), 'preIterationSnapshot'],
    ['an entry that is none', { preIterationSnapshot: { 'US-001': 3 } }, us1(open), 'US-001'],
    ['an entry without fields', { preIterationSnapshot: { 'US-001': {} } }, us1(approved), 'cannot approve'],
    [
      'a status that is none',
      { preIterationSnapshot: { 'US-001': { passes: false, reviewStatus: 'x', reviewCount: '0' } } },
      us1(approved),
      'cannot approve',
    ],
    [
      'a mode that is none',
      { iterationMode: 'free', preIterationSnapshot: from(us1(waiting)) },
      us1({ ...approved, reviewCount: 2 }),
      'implement iterations cannot approve',
    ],
    [
      'a cap as text',
      { reviewCap: '2', iterationMode: 'review', preIterationSnapshot: from(us1(waiting)) },
      us1({ ...rejected, reviewCount: 2 }),
      'review cap reached',
    ],
  ])('is not switched off by a damaged marker: %s', async (_name, marker, after, said) => {
    const repo = activate(prdRepo(tasksJson(after)), { iterationMode: 'implement', ...marker });
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }))).toContain(said);
  });

  it('does not tell more than an agent can read', async () => {
    const many = Array.from({ length: 50 }, (_, n) => aStory(`S-${n}`, { passes: true }));
    const repo = activate(prdRepo(tasksJson(...many)));
    const reason = reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }));
    expect(reason).toContain('Story S-19 ');
    expect(reason).not.toContain('Story S-20 ');
    expect(reason).toContain('and 30 more');
  });

  it('lets an agent that asks for a human stop in the middle of a review', async () => {
    const marker = { iterationMode: 'review', preIterationSnapshot: { ...from(us1(waiting)), gone: 7 } };
    const repo = activate(prdRepo(tasksJson(us1(waiting))), marker);
    const asks = {
      ...input,
      cwd: repo.cwd,
      last_assistant_message: '<promise>BLOCKED: no database</promise>',
    };
    expect(reasonOf(await runProgram(stop, repo, asks))).toBe('');
    expect(reasonOf(await runProgram(stop, repo, { ...asks, last_assistant_message: 'bye' }))).toContain(
      'review must',
    );
  });

  it('takes the claim that the loop of the session has read, which may stand in the transcript only', async () => {
    const marker = { iterationMode: 'review', preIterationSnapshot: from(us1(waiting)) };
    const repo = activate(prdRepo(tasksJson(us1(waiting))), marker);
    const event = { ...input, cwd: repo.cwd, transcript_path: join(repo.home, 'transcript.jsonl') };
    const prompt = ['node', join(plugin, 'hooks/generated/prompt.cjs')] as const;
    await runProgram(prompt, repo, {
      ...event,
      hook_event_name: 'UserPromptSubmit',
      prompt: '/ralph-loop x',
    });
    const content = [{ type: 'text', text: '<promise>BLOCKED: no database</promise>' }];
    const said = { type: 'assistant', message: { role: 'assistant', content } };
    writeFileSync(event.transcript_path, `${JSON.stringify(said)}\n`);
    const { stdout } = await runProgram(stop, repo, event);
    expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringContaining('no database') });
  });

  it('knows the project from the host, from its input or from where it runs', async () => {
    const repo = activate(prdRepo('no json'));
    const elsewhere = { ...repo, cwd: repo.home };
    const blocked = 'cannot be used';
    expect(reasonOf(await runProgram(stop, elsewhere, input, { CLAUDE_PROJECT_DIR: repo.cwd }))).toContain(
      blocked,
    );
    expect(reasonOf(await runProgram(stop, elsewhere, { cwd: repo.cwd }))).toContain(blocked);
    for (const odd of ['', '{}', 'no json', '[]']) {
      expect(reasonOf(await runProgram(stop, repo, odd))).toContain(blocked);
    }
  });

  it('leaves subagents alone', async () => {
    const repo = activate(prdRepo('no json'));
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd, agent_id: 'a' }))).toBe('');
  });

  it.each([
    ['plans', { permission_mode: 'plan' }],
    ['work goes on in the background', { background_tasks: [{ status: 'running' }] }],
  ])('checks the task list, but not for commits, where an agent stops while %s', async (_name, more) => {
    const repo = activate(prdRepo());
    repo.write('new file.txt', 'x');
    const at = { ...input, cwd: repo.cwd, ...more };
    expect(reasonOf(await runProgram(stop, repo, at))).toBe('');
    repo.write('ralph/tasks.json', tasksJson(us1({ passes: true })));
    expect(reasonOf(await runProgram(stop, repo, at))).toContain('not approved');
  });

  it('finds the marker from a folder inside the project, but not from another repository in it', async () => {
    const repo = activate(prdRepo('no json'));
    repo.write('src/deep/x', '');
    const inside = { ...repo, cwd: repo.path('src/deep') };
    expect(reasonOf(await runProgram(stop, inside, { ...input, cwd: inside.cwd }))).toContain(
      'cannot be used',
    );
    const started = ['/bin/sh', join(plugin, 'hooks/gate.sh'), 'stop'] as const;
    expect(reasonOf(await runProgram(started, inside, { ...input, cwd: inside.cwd }))).toContain(
      'cannot be used',
    );
    repo.write('src/deep/.git', 'gitdir: elsewhere');
    expect(reasonOf(await runProgram(stop, inside, { ...input, cwd: inside.cwd }))).toBe('');
  });

  it('leaves the session of a person alone while a loop of ours works beside it', async () => {
    const repo = activate(prdRepo('no json'));
    const at = { ...input, cwd: repo.cwd };
    mkdirSync(repo.path('.ralph'));
    const taken = acquireLock(repo.path('.ralph/lock'), {});
    expect(taken.ok).toBe(true);
    expect(reasonOf(await runProgram(stop, repo, at))).toBe('');
    expect(reasonOf(await runProgram(stop, repo, at, { RALPH_RUN_ID: 'r' }))).toContain('cannot be used');
    const text = repo.read('.ralph/lock').replace(String(process.pid), String(2 ** 22 + 1));
    repo.write('.ralph/lock', text);
    expect(reasonOf(await runProgram(stop, repo, at))).toContain('cannot be used');
  });

  it('finds the task list of a PRD in another folder', async () => {
    const repo = activate(prdRepo());
    repo.write('plans/tasks.json', 'no json');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'another');
    const env = { RALPH_PRD_DIR: repo.path('plans') };
    expect(reasonOf(await runProgram(stop, repo, { ...input, cwd: repo.cwd }, env))).toContain(
      'cannot be used',
    );
  });

  it('is there under its older name', async () => {
    const repo = activate(prdRepo(tasksJson(us1({ passes: true }))));
    const older = ['python3', join(plugin, 'hooks/scripts/stop_loop_reminder.py')] as const;
    expect(reasonOf(await runProgram(older, repo, { ...input, cwd: repo.cwd }))).toContain(
      "Story US-001 has passes=true but reviewStatus is 'null', not 'approved'.",
    );
  });
});

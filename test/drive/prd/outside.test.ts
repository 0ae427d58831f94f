import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Story, snapshotOf } from '../../../src/core/review/story.ts';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { aStory, aTaskList, legalStates } from '../../core/review-examples.ts';
import type { Turns } from '../../support/agent.ts';
import { runRalph } from '../../support/ralph.ts';
import type { Repo } from '../../support/repo.ts';
import { allowEdits, commits, edits, honest, prdRepo, storyIn, tasksJson } from './support.ts';

const { open, waiting, approved } = legalStates;
const once = ['prd', 'run', '-n', '1'];

async function repoWith(steps: Turns[number]['steps'][], ...stories: Partial<Story>[]) {
  const repo = prdRepo(tasksJson(...stories));
  allowEdits(repo);
  const turns = steps.map((each) => ({ steps: each }));
  const agent = await installFakeAgent(repo.bin, { agent: 'claude', script: { turns } });
  return { ...repo, prompt: async (turn: number) => (await agent.calls())[turn - 1]?.prompt ?? '' };
}

async function outsideIn(repo: Repo): Promise<string[]> {
  const { stdout } = await runRalph(['prd', 'status', '--json'], repo);
  const { stories } = JSON.parse(stdout);
  return stories.flatMap(({ id, approvedOutside }: { id: string; approvedOutside: boolean }) =>
    approvedOutside ? [id] : [],
  );
}

describe('an approval that no review of the loop gave', () => {
  it('is told at the next start, and marked from then on', async () => {
    const repo = await repoWith(
      [[honest.implements('A')], [honest.approves('A', 1)], [commits()]],
      aStory('A'),
      aStory('B'),
      aStory('C'),
    );
    expect((await runRalph(['prd', 'run', '-n', '2'], repo)).stderr).not.toContain('approved');
    expect(await outsideIn(repo)).toEqual([]);
    repo.write('ralph/tasks.json', tasksJson(aStory('A', approved), aStory('B', approved), aStory('C')));
    repo.git('commit', '-qam', 'by nobody');
    expect(await outsideIn(repo)).toEqual(['B']);
    const { stderr, code } = await runRalph(once, repo);
    expect(stderr).toContain(
      'warning: B was approved since the last iteration, and no review of this loop did it',
    );
    expect(code).toBe(1);
    expect(storyIn(repo, 'B').passes).toBe(true);
    expect((await runRalph(once, repo)).stderr).not.toContain('since the last iteration');
    expect(await outsideIn(repo)).toEqual(['B']);
    expect((await runRalph(['prd', 'status'], repo)).stdout).toContain('approved by no review of this loop');
  });

  it('is told where the loop is new here, also when nothing is left to do', async () => {
    const repo = await repoWith([[commits()]], aStory('A', approved), aStory('B', approved));
    const { stderr, code } = await runRalph(['prd', 'run'], repo);
    expect(stderr).toContain('A, B were approved before this loop knew of it, and no review of this loop');
    expect(code).toBe(0);
    expect((await runRalph(['prd', 'run', '--skip-review'], repo)).stderr).not.toContain('approved');
  });

  it('is no matter of a PRD that was begun anew', async () => {
    const repo = await repoWith([[commits()]], aStory('A', { title: 'Old' }));
    await runRalph(once, repo);
    await runRalph(['prd', 'archive'], repo);
    repo.write('ralph/tasks.json', tasksJson(aStory('A', { title: 'New', reviewStatus: 'needs_review' })));
    repo.git('commit', '-qam', 'new');
    await runRalph(once, repo);
    expect(await repo.prompt(2)).not.toContain('Old');
  });
});

describe('a marker that a loop without a journal left behind', () => {
  const marker = (repo: Repo, stories: Story[], mode: string): void =>
    writeFileSync(
      repo.path('.ralph-active'),
      JSON.stringify({
        timestamp: '2026-01-02T03:04:05Z',
        pid: 2 ** 22 + 1,
        max_iterations: 15,
        mode: 'direct',
        skipReview: false,
        reviewCap: 5,
        iterationMode: mode,
        preIterationSnapshot: snapshotOf(aTaskList(...stories)),
      }),
    );

  it('stops the next start where its iteration did what it may not, until somebody has looked', async () => {
    const repo = await repoWith([[commits()]], aStory('A', approved), aStory('B'));
    marker(repo, [aStory('A', open), aStory('B')], 'implement');
    for (let start = 1; start <= 2; start++) {
      const { code, stderr } = await runRalph(once, repo);
      expect(code).toBe(2);
      expect(stderr).toContain('Story A had illegal transition: passes false → true');
      expect(stderr.split('try: ')[1]).toContain('git log -p');
    }
    repo.write('ralph/tasks.json', tasksJson(aStory('A'), aStory('B')));
    expect((await runRalph(once, repo)).code).toBe(1);
    expect(repo.exists('.ralph-active')).toBe(false);
  });

  it('is taken away where its iteration did what it may', async () => {
    const repo = await repoWith([[commits()]], aStory('A', { ...approved, reviewCount: 2 }), aStory('B'));
    marker(repo, [aStory('A', waiting), aStory('B')], 'review');
    expect((await runRalph(once, repo)).code).toBe(1);
    expect(repo.exists('.ralph-active')).toBe(false);
  });
});

describe('a review', () => {
  it('hears what was changed since a loop first saw the list, also in an earlier run', async () => {
    const weaken = `node -e '
      const fs = require("node:fs");
      const list = JSON.parse(fs.readFileSync("ralph/tasks.json", "utf8"));
      list.verifyCommands = ["true"];
      Object.assign(list.userStories[0], { acceptanceCriteria: ["it is there"] });
      Object.assign(list.userStories[1], { title: "Less", description: "Only a bit.", reviewStatus: "needs_review" });
      fs.writeFileSync("ralph/tasks.json", JSON.stringify(list));
    '`;
    const repo = await repoWith(
      [[{ shell: weaken }, commits()], [edits('B', { ...approved, reviewCount: 1 })]],
      aStory('A', approved),
      aStory('B', { title: 'All of it', description: 'Everything.' }),
    );
    repo.write('ralph/tasks.json', repo.read('ralph/tasks.json').replace('[]', '["npm test"]'));
    repo.git('commit', '-qam', 'verify');
    await runRalph(once, repo);
    await runRalph(once, repo);
    const asked = await repo.prompt(2);
    for (const line of [
      'Its title was: All of it',
      'Its description was: Everything.',
      'The verifyCommands were changed. They were:\n- npm test',
      'The acceptance criteria of A, which is approved, were changed. They were:\n- it works',
    ])
      expect(asked).toContain(line);
    expect(await repo.prompt(1)).not.toContain('first saw');
  });
});

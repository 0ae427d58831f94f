import { describe, expect, it, vi } from 'vitest';
import { bwrapWorks } from '../sandbox/support.ts';
import { type RepoWithAgent, repoWith, runArgs, type Turns, tag } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';
import { actAs, everybody } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000 });

const commits = 'echo more >> README.md; git commit -qam agent';
const ways = everybody().flatMap((who) =>
  [[], ...(bwrapWorks(who) ? [['--sandbox', 'bwrap']] : [])].map((how) => ({ who, how })),
);

/** A repository on the branch `work`, with a remote that has `main` and `work`. */
async function repoWithRemote(turns: Turns, tasks: readonly string[]): Promise<RepoWithAgent> {
  const repo = await repoWith(turns, { scm: { tasks } });
  const remote = repo.path('..', 'remote.git');
  repo.git('init', '-q', '--bare', '-b', 'main', remote);
  repo.git('remote', 'add', 'origin', remote);
  repo.git('push', '-q', '-u', 'origin', 'main');
  repo.git('switch', '-qc', 'work');
  repo.git('push', '-q', '-u', 'origin', 'work');
  return repo;
}

const subject = (repo: RepoWithAgent, branch: string) => {
  repo.git('fetch', '-q', 'origin');
  return repo.git('log', '-1', '--format=%s', `origin/${branch}`);
};

async function run(repo: RepoWithAgent, max: number, how: readonly string[]): Promise<string> {
  const env = { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) };
  const { stdout, stderr } = await runRalph(runArgs(max, ...how), { ...repo, env });
  return stdout + stderr;
}

describe.each(ways)('a push of a run $how, for $who.name', ({ who, how }) => {
  actAs(who);

  it.each([
    ['a switch', 'git switch -q main'],
    ['another HEAD', 'git symbolic-ref HEAD refs/heads/main'],
  ])('does not go to the branch that the agent moved to by %s', async (_way, move) => {
    const repo = await repoWithRemote(
      [{ steps: [{ shell: `${move}; ${commits}` }, { text: tag }] }],
      ['push'],
    );
    const output = await run(repo, 1, how);
    expect(output).toContain('HEAD is on main, but the run began on work; nothing was pushed');
    expect([subject(repo, 'main'), subject(repo, 'work')]).toEqual(['Start', 'Start']);
  });

  it('does not go there after a resume either', async () => {
    const repo = await repoWithRemote(
      [
        { steps: [{ shell: 'git switch -q main; echo x > x.txt' }] },
        { steps: [{ shell: commits }, { text: tag }] },
      ],
      ['push'],
    );
    await run(repo, 1, how);
    const env = { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) };
    const { stdout } = await runRalph(['run', '--resume', '-m', '2'], { ...repo, env });
    expect(stdout).toContain('but the run began on work');
    expect(subject(repo, 'main')).toBe('Start');
  });

  it.each([
    [['push']],
    [['push --force-with-lease']],
    [['push origin']],
    [['push -u origin HEAD']],
    [['push origin work']],
  ])('goes to the branch of the start: %j', async (tasks) => {
    const repo = await repoWithRemote([{ steps: [{ shell: commits }, { text: tag }] }], tasks);
    // What git would push by itself is more than the branch.
    repo.git('config', 'push.default', 'matching');
    repo.git('branch', '-f', 'main', 'work');
    const output = await run(repo, 1, how);
    expect(subject(repo, 'work'), output).toBe('agent');
    expect(subject(repo, 'main')).toBe('Start');
  });
});

it('pushes only the branch of the start where the settings of git name more', async () => {
  const moves = 'git branch -qf main HEAD';
  const repo = await repoWithRemote(
    [{ steps: [{ shell: `${commits}; ${moves}` }, { text: tag }] }],
    ['push'],
  );
  repo.git('config', 'push.default', 'matching');
  const output = await run(repo, 1, []);
  expect([subject(repo, 'work'), subject(repo, 'main')], output).toEqual(['agent', 'Start']);
});

it('pushes to the upstream of another name where the user wants that', async () => {
  const repo = await repoWithRemote([{ steps: [{ shell: commits }, { text: tag }] }], ['push']);
  repo.git('push', '-q', 'origin', 'work:refs/heads/theirs');
  repo.git('branch', '-q', '-u', 'origin/theirs');
  repo.git('config', 'push.default', 'upstream');
  const output = await run(repo, 1, []);
  expect([subject(repo, 'theirs'), subject(repo, 'work')], output).toEqual(['agent', 'Start']);
});

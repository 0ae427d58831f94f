import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, tag } from '../../support/agent.ts';
import { runRalph } from '../../support/ralph.ts';

const shells = (...commands: string[]) =>
  commands.map((shell, index) => ({
    steps: [{ shell }, { text: index === commands.length - 1 ? tag : 'More.' }],
  }));

describe('what each iteration changed', () => {
  it('is kept, committed or not, with new, removed, binary and oddly named files', async () => {
    const repo = await repoWith(
      shells(
        `printf 'one\\n' > 'a "file" é.txt'; rm README.md`,
        `printf 'two\\n' >> 'a "file" é.txt'; printf '\\377\\000' > bytes`,
        `git add -A; git commit -qm all; printf 'three\\n' > c.sh; chmod +x c.sh; ln -s c.sh link`,
      ),
    );
    await runRalph(runArgs(9), repo);
    const diff = async (...n: string[]) => (await runRalph(['show', 'latest', '--diff', ...n], repo)).stdout;
    const [first, second, third, all] = [await diff('1'), await diff('2'), await diff('3'), await diff()];
    expect(first).toContain('+one');
    expect(first).toContain('deleted file mode');
    expect(second).toContain(' one\n+two');
    expect(second).toContain('Binary files /dev/null and b/bytes differ');
    expect(second).not.toContain('README');
    expect(third).toContain('new file mode 100755');
    expect(third).toContain('new file mode 120000');
    expect(third).not.toContain('+one');
    expect(all).toContain('+one\n+two');
    const { run } = await show(repo);
    expect(repo.git('for-each-ref', '--format=%(refname)', 'refs/ralph').trim()).toBe(`refs/ralph/${run}`);
    expect(repo.git('status', '--porcelain')).toBe('?? c.sh\n?? link');
  });

  it('counts the files that an iteration committed', async () => {
    const repo = await repoWith(
      shells('echo x > a; echo x > b; git add -A; git commit -qm both', 'echo y > c'),
    );
    await runRalph(runArgs(9), repo);
    const { run } = await show(repo);
    const ends = repo
      .read(`.ralph/runs/${run}/journal.ndjson`)
      .split('\n')
      .filter((line) => line.includes('"agent.ended"'))
      .map((line) => JSON.parse(line).progress);
    expect(ends).toEqual([
      { commits: 1, filesChanged: 2, files: ['a', 'b'] },
      { commits: 0, filesChanged: 1, files: ['c'] },
    ]);
  });

  it('counts the commits of the agent and those of the loop', async () => {
    const repo = await repoWith(
      shells('echo x > a; git add -A; git commit -qm one; echo y > b', 'true', 'true', 'true'),
      { scm: { command: 'git', tasks: ['commit'] } },
    );
    await runRalph(runArgs(2), repo);
    const { stdout } = await runRalph(['show'], repo);
    expect(stdout).toMatch(/^Changes +2 files changed, 2 insertions\(\+\), 2 commits$/m);
    expect(repo.git('rev-list', '--count', 'HEAD')).toBe('3');
    expect(stdout).toMatch(/^Diff +git diff \w+\.\.\w+$/m);
  });

  it('is kept over a resume, and goes with its run', async () => {
    const repo = await repoWith(shells('echo 1 > a', 'echo 2 > a', 'echo 3 > a'));
    await runRalph(runArgs(1), repo);
    await runRalph(['run', '--resume', '-m', '2'], repo);
    const { run } = await show(repo);
    repo.git('reflog', 'expire', '--expire=now', '--all');
    repo.git('gc', '-q', '--prune=now');
    expect((await runRalph(['show', run, '--diff', '1'], repo)).stdout).toContain('+1');
    expect((await runRalph(['show', run, '--diff', '2'], repo)).stdout).toContain('-1\n+2');
    rmSync(repo.path('.ralph/runs', run), { recursive: true });
    await runRalph(runArgs(1), repo);
    expect(repo.git('for-each-ref', 'refs/ralph').trim().split('\n')).toHaveLength(1);
    expect(repo.git('for-each-ref', 'refs/ralph')).not.toContain(run);
  });

  it('names an iteration that there is not', async () => {
    const repo = await repoWith(shells('echo 1 > a'));
    await runRalph(runArgs(1), repo);
    const { code, stderr } = await runRalph(['show', 'latest', '--diff', '7'], repo);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no iteration 7: it has 1')]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { tag } from '../../support/agent.ts';
import { alive } from '../../support/processes.ts';
import { runRalph } from '../../support/ralph.ts';
import { makeRepo } from '../../support/repo.ts';

/** A folder on a file system of its own, or null where we may not mount. */
function smallDisk(megabytes: number): string | null {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

describe('a full disk', () => {
  it('is told in one sentence with 70, the tree is gone, and the run can be resumed', async (context) => {
    const disk = process.platform === 'linux' ? smallDisk(150) : null;
    if (disk === null) return context.skip('mounting a small disk needs root on Linux');
    const home = makeRepo();
    const cwd = join(disk, 'repo');
    mkdirSync(cwd);
    const flood = { flood: { bytes: 400_000_000, lineBytes: 40_000, as: 'tool' as const } };
    const agent = await installFakeAgent(home.bin, {
      agent: 'claude',
      script: {
        turns: [
          { steps: [{ child: { seconds: 600, setsid: true } }, flood, { text: tag }] },
          { steps: [{ shell: 'echo x > x' }, { text: tag }] },
        ],
      },
    });
    const args = ['run', '-p', 'x', '-m', '2', '--completion-promise', 'DONE', '--agent', 'claude'];
    const { code, stderr } = await runRalph(args, { ...home, cwd });
    expect(code).toBe(70);
    expect(stderr).toMatch(
      /^error: There is no space left to write .+\n {2}try: free some space .+ ralph run --resume [\w-]+\n$/,
    );
    expect(agent.children().filter(alive)).toEqual([]);

    execFileSync('sh', ['-c', 'rm .ralph/runs/*/iterations/*.ndjson'], { cwd });
    const again = await runRalph(['run', '--resume'], { ...home, cwd });
    expect(again.code).toBe(0);
    const [run] = execFileSync('ls', [join(cwd, '.ralph/runs')], { encoding: 'utf8' }).split('\n');
    const journal = readFileSync(join(cwd, '.ralph/runs', run ?? '', 'journal.ndjson'), 'utf8');
    expect(
      journal
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toContain('run.resumed');
  }, 60_000);
});

import { expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../../support/agent.ts';
import { processesWithEnvironment } from '../../support/processes.ts';
import { runRalph } from '../../support/ralph.ts';

it.skipIf(process.platform === 'win32').each([21, 22, 23, 24, 26, 28])(
  'with %i files that it may open, a run tells that in one sentence and ends with 70, or works',
  async (files) => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    const through = ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh'];
    const env = { MACHINE_LIMITS: repo.cwd };
    const { code, stderr } = await runRalph(runArgs(1), { cwd: repo.cwd, bin: repo.bin, env, through });
    expect(stderr).not.toMatch(/^ {4}at |install/m);
    if (code !== 0) expect({ code, stderr }).toEqual({ code: 70, stderr: expect.stringContaining('EMFILE') });
    expect(processesWithEnvironment('MACHINE_LIMITS', repo.cwd)).toEqual([]);
  },
);

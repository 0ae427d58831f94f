import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bwrapWorks } from '../sandbox/support.ts';
import { show, tag } from '../support/agent.ts';
import { processesOfRun } from '../support/processes.ts';
import { openRoom } from './room.ts';

const runs = (shell: string) => ({ blocks: [{ shell }] });

for (const agent of inject('agents')) {
  describe.skipIf('error' in agent || !bwrapWorks())(
    `the real ${agent.name} ${agent.version} in bwrap`,
    () => {
      it('works, commits and finishes, and touches nothing outside', async () => {
        const room = await openRoom(
          agent,
          (repo) => [
            runs(
              [
                `cat ${join(repo.home, '.ssh', 'id')} > key.txt`,
                `echo x > ${join(repo.home, 'outside.txt')}`,
                'echo x > .git/hooks/pre-commit',
                'echo x > .ralph/settings.json',
                'echo final > report.txt && git add report.txt && git commit -qm "Write the report"',
              ].join('; '),
            ),
            { blocks: [{ text: `Done.\n\n${tag}` }] },
          ],
          ({ port }) => ({
            sandbox: 'bwrap',
            allowHosts: [`127.0.0.1:${port}`],
            guardrails: [{ command: 'grep -q final report.txt' }],
          }),
        );
        const { repo } = room;
        mkdirSync(join(repo.home, '.ssh'));
        writeFileSync(join(repo.home, '.ssh', 'id'), 'KEY\n');
        const { code, stdout, stderr } = await room.start('run', '-p', 'Write the report.', '-m', '3').done;
        expect(code, stdout + stderr).toBe(0);
        const { run, iterations } = await show(repo);
        expect(iterations).toBe(1);
        expect(repo.git('log', '-1', '--format=%an %s')).toBe('Test Write the report');
        expect(repo.git('status', '--short').split('\n')).toEqual(['?? .ralph/', '?? key.txt']);
        expect(repo.read('key.txt')).toBe('');
        expect(existsSync(join(repo.home, 'outside.txt'))).toBe(false);
        expect(repo.exists('.git/hooks/pre-commit')).toBe(false);
        expect(processesOfRun(run)).toEqual([]);
        expect(room.journal()).toContainEqual(
          expect.objectContaining({ type: 'sandbox.ready', provider: 'bwrap' }),
        );
      });
    },
  );
}

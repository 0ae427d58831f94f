import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { agents as adapters } from '../../src/agents/registry.ts';
import { atLeast } from '../../src/agents/version.ts';
import type { ModelAnswer } from '../support/model-server/script.ts';
import type { Repo } from '../support/repo.ts';
import { openRoom } from './room.ts';

const done: ModelAnswer = { blocks: [{ text: '<promise>DONE</promise>' }] };
const programs = { hook: () => 'x', opencodePlugin: 'x', sha256: () => 'x', readJson: () => null };
const agents = inject('agents').filter(({ name, version, protocol }) => {
  if (protocol === 'acp') return false;
  const adapter = Object.values(adapters).find((one) => one.name === name);
  return adapter?.guard?.(programs, { version, flags: [], env: {} });
});

/** It would delete a note in the home, then makes a file in the project. */
const script = (repo: Repo): ModelAnswer[] => {
  writeFileSync(join(repo.home, 'note.txt'), 'keep\n');
  return [
    { blocks: [{ shell: `unlink ${join(repo.home, 'note.txt')}` }] },
    { blocks: [{ shell: 'echo yes > allowed.txt' }] },
    done,
  ];
};

const endsAtRefusal = new Set(['opencode']);

/** What a repository or a user may have there. */
const hooksOff: Readonly<Record<string, (repo: Repo) => void>> = {
  claude: (repo) => repo.write('.claude/settings.json', '{"disableAllHooks":true}'),
  codex: ({ home }) => {
    const path = join(home, '.codex/config.toml');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('[features]', '[features]\nhooks = false'));
  },
};

const talkers = inject('agents').filter(({ protocol }) => protocol === 'acp');

describe.skipIf(talkers.length === 0)('the guard before the tools of any agent that speaks ACP', () => {
  for (const agent of talkers) {
    describe.skipIf('error' in agent)(`${agent.name} ${agent.version}`, () => {
      it('refuses what leads out of the project, tells the next turn why, and keeps it in the record', async () => {
        const stop: ModelAnswer = { blocks: [{ text: 'It was refused.' }] };
        const room = await openRoom(agent, (repo) => {
          const [denied, ...rest] = script(repo);
          // Some agents end their turn when a call is refused, and some ask the model once more.
          return [denied ?? stop, ...(endsAtRefusal.has(agent.name) ? [] : [stop]), ...rest];
        });
        const { code, stdout } = await room.start('run', '-p', 'Mend it.', '-m', '3').done;
        expect(code, stdout).toBe(0);
        expect(existsSync(join(room.repo.home, 'note.txt'))).toBe(true);
        expect(existsSync(room.repo.path('allowed.txt'))).toBe(true);
        const second = endsAtRefusal.has(agent.name) ? 1 : 2;
        expect(room.asked(second)).toContain('ralph guard (destructive-files)');
        expect(room.journal().filter(({ type }) => type === 'guard.denied')).toMatchObject([
          { iteration: 1, category: 'destructive-files', what: expect.stringContaining('unlink') },
        ]);
      });

      it.each([
        ['edit', true],
        ['read', false],
      ] as const)('may with the permissions %s do what they say', async (permissions, writes) => {
        const room = await openRoom(agent, (repo) => [
          { blocks: [{ write: { path: repo.path('written.txt'), content: 'a' } }] },
          { blocks: [{ shell: 'echo ran > ran.txt' }] },
          done,
        ]);
        await room.start('run', '-p', 'Do it.', '-m', '2', '--permissions', permissions).done;
        expect(existsSync(room.repo.path('written.txt'))).toBe(writes);
        expect(existsSync(room.repo.path('ran.txt'))).toBe(false);
      });
    });
  }
});

describe.skipIf(agents.length === 0)('the guard in a run of a real agent', () => {
  for (const agent of agents) {
    describe.skipIf('error' in agent)(`${agent.name} ${agent.version}`, () => {
      it('refuses what leads out of the project, tells the agent why, and keeps it in the record', async () => {
        const room = await openRoom(agent, script);
        const { code, stdout } = await room.start('run', '-p', 'Mend it.').done;
        expect(code, stdout).toBe(0);
        expect(existsSync(join(room.repo.home, 'note.txt'))).toBe(true);
        expect(existsSync(room.repo.path('allowed.txt'))).toBe(true);
        expect(room.asked(1)).toContain('ralph guard (destructive-files)');
        expect(room.journal().filter(({ type }) => type === 'guard.denied')).toMatchObject([
          { iteration: 1, category: 'destructive-files', what: expect.stringContaining('unlink') },
        ]);
        const shown = await room.start('show').done;
        expect(shown.stdout).toContain('Refused by the guard:');
      });

      it.runIf(agent.name === 'claude' && atLeast(agent.version, '2.1.300'))(
        'refuses it to the tool that watches a command as well',
        async () => {
          const room = await openRoom(agent, (repo) => {
            writeFileSync(join(repo.home, 'note.txt'), 'keep\n');
            const command = `unlink ${join(repo.home, 'note.txt')}`;
            const input = { command, description: 'x', timeout_ms: 5000, persistent: false };
            const calls = [{ tool: { name: 'Monitor', input } }, { shell: 'sleep 1' }];
            return [...calls.map((call) => ({ blocks: [call] })), done];
          });
          expect((await room.start('run', '-p', 'Mend it.').done).code).toBe(0);
          expect(existsSync(join(room.repo.home, 'note.txt'))).toBe(true);
          expect(room.asked(1)).toContain('ralph guard (destructive-files)');
        },
      );

      it.runIf(agent.name in hooksOff)('holds where the settings of the agent switch hooks off', async () => {
        const room = await openRoom(agent, script);
        hooksOff[agent.name]?.(room.repo);
        expect((await room.start('run', '-p', 'Mend it.').done).code).toBe(0);
        expect(existsSync(join(room.repo.home, 'note.txt'))).toBe(true);
        expect(room.asked(1)).toContain('ralph guard (destructive-files)');
      });

      it('lets it happen where it is off', async () => {
        const room = await openRoom(agent, script, { guard: 'off' });
        expect((await room.start('run', '-p', 'Mend it.').done).code).toBe(0);
        expect(existsSync(join(room.repo.home, 'note.txt'))).toBe(false);
        expect(room.asked(1)).not.toContain('ralph guard');
      });
    });
  }
});

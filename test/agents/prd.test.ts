import { readdirSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { aStory } from '../core/review-examples.ts';
import { allowEdits, edits, honest, storyIn, tasksJson } from '../drive/prd/support.ts';
import { plugin } from '../support/hooks.ts';
import type { Repo } from '../support/repo.ts';
import { openRoom } from './room.ts';
import type { WantedAgent } from './table.ts';

const agents = inject('agents').filter(({ name }) => name === 'claude');
const missing: WantedAgent = { name: 'claude', version: '(not asked for)', error: 'not asked for' };
const says = (text: string) => ({ blocks: [{ text }] });

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`a PRD with the real claude ${agent.version}`, () => {
    it('takes two stories through their reviews, and an attempt to cheat is stopped by the hook, without the plugin', async () => {
      const cheat = edits('A', { passes: true, reviewStatus: 'approved', reviewCount: 1, notes: 'done' });
      const mends = edits('A', { passes: false, reviewStatus: 'needs_review', reviewCount: 0, notes: '' });
      const runs = (repo: Repo, { shell }: { shell: string }) => ({
        blocks: [{ shell: shell.replace('edit-tasks', `"${repo.bin}/edit-tasks"`) }],
      });
      const room = await openRoom(agent, (repo) => [
        runs(repo, cheat),
        says('Story A is done and approved.'),
        runs(repo, mends),
        says('Story A waits for its review.'),
        runs(repo, honest.approves('A', 1)),
        says('Approved.'),
        runs(repo, honest.implements('B')),
        says('Story B waits for its review.'),
        runs(repo, honest.approves('B', 1)),
        says('Everything is approved.\n\n<promise>COMPLETE</promise>'),
      ]);
      const { repo } = room;
      allowEdits(repo);
      repo.write('ralph/tasks.json', tasksJson(aStory('A'), aStory('B')));
      repo.write('ralph/prompt.md', 'Iteration $RALPH_ITERATION. At the end: <promise>COMPLETE</promise>\n');
      repo.write('ralph/progress.txt', '# Ralph Progress Log\n');
      repo.write('.gitignore', '.ralph-active\n.ralph/\n');
      repo.git('add', '--all');
      repo.git('commit', '-qm', 'plan');

      const { code, stdout } = await room.start('prd', 'run', '-n', '6', '--no-sandbox').done;
      expect(code, stdout).toBe(0);
      const told = room.asked(2);
      expect(told).toContain('The mode of this iteration is implement.');
      expect(told).toContain('Story A had illegal transition: passes false → true.');
      const events = room.journal();
      expect(
        events.flatMap((event) => (event.type === 'prd.iteration' ? [`${event.mode} ${event.story}`] : [])),
      ).toEqual(['implement A', 'review A', 'implement B', 'review B']);
      // The hook had it put right within the session: there was nothing left for the loop to undo.
      expect(events.flatMap((event) => (event.type === 'prd.checked' ? event.problems : []))).toEqual([]);
      for (const id of ['A', 'B']) {
        expect(storyIn(repo, id)).toMatchObject({ passes: true, reviewStatus: 'approved', reviewCount: 1 });
      }
      expect(repo.exists('.ralph-active')).toBe(false);
    });

    it('has the commands of a PRD once the plugin is loaded', async () => {
      const { repo, start } = await openRoom(agent, () => [says('<promise>DONE</promise>')]);
      const settings = JSON.parse(repo.read('.ralph/settings.json'));
      settings.agent.flags = [...settings.agent.flags, '--plugin-dir', `'${plugin}'`];
      repo.write('.ralph/settings.json', JSON.stringify(settings));
      await start('run', '-p', 'x', '-m', '1').done;
      const [run = ''] = readdirSync(repo.path('.ralph/runs'));
      const stream = repo.read(`.ralph/runs/${run}/iterations/001.ndjson`);
      for (const name of ['ralph-plan', 'ralph-init', 'ralph-archive'])
        expect(stream).toContain(`"ralphkit:${name}"`);
    });

    it('knows /ralph-plan once ralph install claude was called', async () => {
      const room = await openRoom(agent, () => [says('What is it for? <promise>DONE</promise>')]);
      expect((await room.start('install', 'claude').done).code).toBe(0);
      const { stdout } = await room.start('run', '-p', '/ralph-plan', '-m', '1').done;
      expect(room.asked(0), stdout).toContain('# Plan a feature for Ralph');
    });
  });
}

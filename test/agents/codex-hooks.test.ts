import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { waitUntil } from '../support/processes.ts';
import { openSession as openAnySession, says, typist, works } from './session.ts';
import type { WantedAgent } from './table.ts';

const tag = '<promise>DONE</promise>';
// Older versions have no hooks.
const agents = inject('agents').filter(({ name, version }) => name === 'codex' && version !== '0.80.0');
const missing: WantedAgent = { name: 'codex', version: '(not asked for)', error: 'not asked for' };

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the hooks in the real codex ${agent.version}`, () => {
    it('send the agent back twice, then believe it, with the task byte for byte', async () => {
      const task = 'mend "it" $(touch A) `touch B` <b> & $1 {{PROMPT}}\nline two 🎉';
      const escaped = task.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      const room = await openSession(agent, [
        works,
        says('A start.'),
        says(`I will not output ${tag} yet.`),
        says(`Checked.\n\n${tag}`),
      ]);
      await room.exec(`/ralph-loop ${task} --max-iterations 9`);
      expect(room.asked()).toHaveLength(4);
      expect(room.asked()[0]).toContain('You are in a Ralph loop (at most 9 iterations)');
      expect(room.asked()[2]).toContain(`Original task: ${escaped}`);
      expect(room.asked()[3]).toContain('You wrote the completion tag among other text on its line');
      expect(room.ended()).toMatchObject([
        { host: 'codex', loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2, task, toolCalls: 1 } },
      ]);
      expect(room.active()).toEqual([]);
      expect(['A', 'B'].filter((name) => existsSync(room.repo.path(name)))).toEqual([]);
      expect(await room.ralph('runs')).toContain('PROMISE_ACCEPTED');
    });

    it('turn a promise without work down, and one of a tool', async () => {
      const room = await openSession(agent, [
        says(tag),
        { blocks: [{ thinking: tag }, { shell: `echo '${tag}'` }] },
        says('I printed it.'),
        says(tag),
      ]);
      await room.exec('/ralph-loop mend it');
      expect(room.asked()[1]).toContain('Promise detected, but no tool calls/work were performed');
      expect(room.asked()[3]).toContain('you did not output the completion promise');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2 } }]);
    });

    it('find a promise before the last words, and before the last call of a tool', async () => {
      const room = await openSession(agent, [
        { blocks: [{ text: tag }, { shell: 'echo work' }] },
        { blocks: [{ text: 'One.' }, { text: 'Two.' }] },
      ]);
      await room.exec('/ralph-loop mend it');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 0 } }]);
    });

    it('stop at the maximum', async () => {
      const room = await openSession(agent, [works, says('More to do.')]);
      await room.exec('/ralph-loop mend it --max-iterations 2');
      expect(room.asked()).toHaveLength(4);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'MAX_ITERATIONS_REACHED', iteration: 2 } }]);
    });

    it('end a loop that the next prompt cancels, without a call of the model', async () => {
      const room = await openSession(agent, [works, { error: { status: 400, message: 'no' } }]);
      await room.exec('/ralph-loop mend it');
      expect(room.active()).toHaveLength(1);
      const asked = room.asked().length;
      await room.exec('resume', '--last', '/cancel-ralph');
      expect(room.asked()).toHaveLength(asked);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED' } }]);
    });

    it('tell the task again to a session that is resumed', async () => {
      const room = await openSession(agent, [works, { error: { status: 400, message: 'no' } }, says(tag)]);
      await room.exec('/ralph-loop mend the gate');
      await room.exec('resume', '--last', 'Go on.');
      expect(room.asked()[2]).toContain('A Ralph loop is going on in this session');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED' } }]);
    });

    it('refuse wrong words before there is any state', async () => {
      const room = await openSession(agent, [says('Said.')]);
      await room.exec('/ralph-loop mend it --max-iteration 3');
      expect(room.asked()).toEqual([]);
      expect(room.active()).toEqual([]);
    });

    it('are skipped without a word until they are trusted, as the installation says', async () => {
      const room = await openSession(agent, [says('Said.')]);
      expect(room.installed).toContain('Codex skips hooks without a word until you trust them');
      await room.run('exec', '--skip-git-repo-check', '/ralph-loop mend it');
      expect(room.active()).toEqual([]);
    });

    it('keep a guard over the commands of a session with a loop', async () => {
      const room = await openSession(agent, [
        { blocks: [{ shell: 'rm -rf ~/precious' }] },
        says(tag),
        says('More.'),
      ]);
      room.repo.write('../home/precious', 'kept');
      await room.exec('/ralph-loop mend it --max-iterations 1');
      expect(room.repo.read('../home/precious')).toBe('kept');
      expect(room.asked()[1]).toContain('outside the project');
    });

    it('start in the terminal with a space before the slash, and pause at Escape', async () => {
      const slow: ModelAnswer = { blocks: [{ delay: 60_000 }, { text: 'Too late.' }] };
      const room = await openSession(agent, [works, slow, says('It is 4.'), works, says(tag)]);
      const terminal = room.open();
      const { shows, type } = typist(terminal, '› ');
      await shows('Ask Codex to do anything');
      await type(' /ralph-loop mend it --max-iterations 9');
      await waitUntil(() => room.asked().length === 2, { timeoutMs: 60_000 });
      terminal.press('Escape');
      await waitUntil(() => room.active()[0]?.status === 'paused', { timeoutMs: 60_000 });
      await type('What is 2 + 2?');
      await shows('It is 4.');
      await type(' /ralph-resume');
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 0 } }]);
    });

    it('end a loop that is cancelled while the agent works, and answer other words first', async () => {
      // Codex also asks on its own account, so no answer is bound to a turn.
      const slow: ModelAnswer = { blocks: [{ delay: 6000 }, { text: 'Slow one.' }] };
      const room = await openSession(agent, [works, ...Array.from({ length: 12 }, () => slow)]);
      const { shows, type } = typist(room.open(), '› ');
      await shows('Ask Codex to do anything');
      await type(' /ralph-loop mend it --max-iterations 9');
      await waitUntil(() => room.asked().length >= 2, { timeoutMs: 60_000 });
      await type('use tabs');
      const first = (words: string) => room.asked().findIndex((text) => text.includes(words));
      await waitUntil(() => first('use tabs') !== -1, { timeoutMs: 60_000 });
      expect(first('Ralph loop: iteration 1 of 9')).toBe(-1);
      await waitUntil(() => first('Ralph loop: iteration 1 of 9') !== -1, { timeoutMs: 60_000 });
      await type(' /cancel-ralph');
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      const [ended] = room.ended();
      expect(ended).toMatchObject({ loop: { outcome: 'CANCELLED' } });
      expect(ended?.loop.iteration).toBeLessThan(4);
    });
  });
}

/** The program with the hooks that `ralph install codex` writes. */
async function openSession(agent: WantedAgent, answers: ModelAnswer[]) {
  const session = await openAnySession(agent, answers);
  const installed = await session.ralph('install', 'codex', '--user');
  const trusted = ['--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'];
  return {
    ...session,
    installed,
    exec: (...words: string[]) => session.run('exec', '--skip-git-repo-check', ...trusted, ...words),
    open() {
      const { repo } = session;
      // It asks none of the questions of a first start.
      const answers = [
        `[projects.${JSON.stringify(repo.cwd)}]`,
        'trust_level = "trusted"',
        '[tui]',
        'screen_reader_detection_done = true',
        '[notice.model_migrations]',
        '"gpt-5.5" = "gpt-6-sol"',
      ];
      appendFileSync(join(repo.home, '.codex', 'config.toml'), `\n${answers.join('\n')}\n`);
      return session.open(...trusted);
    },
  };
}

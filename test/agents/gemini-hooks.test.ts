import { existsSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { waitUntil } from '../support/processes.ts';
import { openSession as openAnySession, says, typist, works } from './session.ts';
import type { WantedAgent } from './table.ts';

const tag = '<promise>DONE</promise>';
const agents = inject('agents').filter(({ name }) => name === 'gemini');
const missing: WantedAgent = { name: 'gemini', version: '(not asked for)', error: 'not asked for' };

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the hooks in the real gemini ${agent.version}`, () => {
    it('send the agent back twice, then believe it, with the task byte for byte', async () => {
      const task = 'mend "it" $(touch A) `touch B` <b> & $1 {{args}} !{touch C}\nline two 🎉';
      const room = await openSession(agent, [
        works,
        says('A start.'),
        says(`I will not output ${tag} yet.`),
        says(`Checked.\n\n${tag}`),
      ]);
      await room.prompt(`/ralph-loop ${task} --max-iterations 9`);
      expect(room.asked()).toHaveLength(4);
      expect(room.asked()[0]).toContain('You are in a Ralph loop (at most 9 iterations)');
      expect(room.asked()[2]).toContain(`Original task: ${task}`);
      expect(room.asked()[3]).toContain('You wrote the completion tag among other text on its line');
      expect(room.ended()).toMatchObject([
        { host: 'gemini', loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2, task, toolCalls: 1 } },
      ]);
      expect(room.active()).toEqual([]);
      expect(['A', 'B', 'C'].filter((name) => existsSync(room.repo.path(name)))).toEqual([]);
      expect(await room.ralph('runs')).toContain('PROMISE_ACCEPTED');
    });

    it('turn a promise without work down, and one of a tool', async () => {
      const room = await openSession(agent, [
        says(tag),
        { blocks: [{ thinking: tag }, { shell: `echo '${tag}'` }] },
        says('I printed it.'),
        says(tag),
      ]);
      await room.prompt('/ralph-loop mend it');
      expect(room.asked()[1]).toContain('Promise detected, but no tool calls/work were performed');
      expect(room.asked()[3]).toContain('you did not output the completion promise');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2 } }]);
    });

    it('stop at the maximum', async () => {
      const room = await openSession(agent, [works, says('More to do.')]);
      const output = await room.prompt('/ralph-loop mend it --max-iterations 2');
      expect(output).toContain('Ralph loop: iteration 1 of 2');
      expect(output).toContain('MAX_ITERATIONS_REACHED');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'MAX_ITERATIONS_REACHED', iteration: 2 } }]);
    });

    it('end a loop that the next prompt cancels, without a call of the model', async () => {
      const room = await openSession(agent, [works, { error: { status: 400, message: 'no' } }]);
      await room.prompt('/ralph-loop mend it');
      expect(room.active()).toHaveLength(1);
      const asked = room.asked().length;
      expect(await room.prompt('/cancel-ralph', '--resume', 'latest')).toContain('CANCELLED');
      expect(room.asked()).toHaveLength(asked);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED' } }]);
    });

    it('refuse wrong words before there is any state', async () => {
      const room = await openSession(agent, [says('Said.')]);
      expect(await room.prompt('/ralph-loop mend it --max-iteration 3')).toContain(
        'did you mean --max-iterations?',
      );
      expect(room.asked()).toEqual([]);
      expect(room.active()).toEqual([]);
    });

    it('end a loop in the terminal by Escape and a cancel, as its start says', async () => {
      const slow: ModelAnswer = { blocks: [{ delay: 120_000 }, { text: 'Too late.' }] };
      const room = await openSession(agent, [works, slow, says('I stopped.')]);
      const terminal = room.open('-y', '--skip-trust', '-m', 'gemini-2.5-flash');
      const { shows, type } = typist(terminal, '* ', 500);
      await shows('Type your message');
      await type('/ralph-loop mend it --max-iterations 9');
      await shows('press Escape before you type: /cancel-ralph');
      await waitUntil(() => room.asked().length === 2, { timeoutMs: 60_000 });
      terminal.press('Escape');
      await shows('Ralph loop paused: you interrupted it');
      // Gemini 0.61 asks once more on its own account after a tool, and loses what is typed meanwhile.
      await shows('✦ I stopped.');
      await shows('Type your message');
      await type('/cancel-ralph');
      await shows('Ralph loop ended: CANCELLED');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED', iteration: 0 } }]);
      expect(room.asked()).toHaveLength(3);
    });

    it('keep a guard over the commands of a session with a loop', async () => {
      const room = await openSession(agent, [{ blocks: [{ shell: 'rm -rf ~/precious' }] }, says('More.')]);
      room.repo.write('../home/precious', 'kept');
      await room.prompt('/ralph-loop mend it --max-iterations 1');
      expect(room.repo.read('../home/precious')).toBe('kept');
      expect(room.asked()[1]).toContain('outside the project');
    });
  });
}

/** The program with the hooks that `ralph install gemini` writes. */
async function openSession(agent: WantedAgent, answers: ModelAnswer[]) {
  const session = await openAnySession(agent, answers);
  await session.ralph('install', 'gemini', '--user');
  return {
    ...session,
    prompt: (prompt: string, ...flags: string[]) =>
      session.run('-p', prompt, '-y', '--skip-trust', '-m', 'gemini-2.5-flash', ...flags),
  };
}

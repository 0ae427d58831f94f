import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { waitUntil } from '../support/processes.ts';
import { openSession as openAnySession, says, typist, works } from './session.ts';
import type { WantedAgent } from './table.ts';

const plugin = fileURLToPath(new URL('../../plugins/claude-code', import.meta.url));
const tag = '<promise>DONE</promise>';
const agents = inject('agents').filter(({ name }) => name === 'claude');
const slow: ModelAnswer = { blocks: [{ delay: 4000 }, { text: 'Slow one.' }] };
const missing: WantedAgent = { name: 'claude', version: '(not asked for)', error: 'not asked for' };

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the plugin in the real claude ${agent.version}`, () => {
    it('sends the agent back twice, then believes it, with the task byte for byte', async () => {
      const shell = '!`touch C` now\n\n```!\ntouch D\n```\n';
      const task = `mend "it" $(touch A) \`touch B\` $1 {{PROMPT}} ${shell}\nline two 🎉`;
      const answers = [
        works,
        says('A start.'),
        says(`I will not output ${tag} yet.`),
        says(`Checked.\n\n${tag}`),
      ];
      const room = await openSession(agent, answers);
      await room.prompt(`/ralphkit:ralph-loop ${task} --max-iterations 9`);
      expect(room.asked()).toHaveLength(4);
      expect(room.asked()[0]).toContain('You are in a Ralph loop (at most 9 iterations)');
      expect(room.asked()[2]).toContain(`Original task: ${task}`);
      expect(room.asked()[3]).toContain('You wrote the completion tag among other text on its line');
      expect(room.asked()[3]?.split(`Original task: ${task}`)).toHaveLength(3);
      expect(room.asked()[3]).not.toContain('gate.sh');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2, task } }]);
      expect(room.active()).toEqual([]);
      expect(['A', 'B', 'C', 'D'].filter((name) => existsSync(room.repo.path(name)))).toEqual([]);
    });

    it('turns a promise without work down', async () => {
      const room = await openSession(agent, [says(tag), works, says(tag)]);
      await room.prompt('/ralphkit:ralph-loop mend it');
      expect(room.asked()[1]).toContain('Promise detected, but no tool calls/work were performed');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 1 } }]);
    });

    it('stops at the maximum', async () => {
      const room = await openSession(agent, [works, says('More to do.')]);
      await room.prompt('/ralphkit:ralph-loop mend it --max-iterations 2');
      expect(room.asked()).toHaveLength(4);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'MAX_ITERATIONS_REACHED', iteration: 2 } }]);
    });

    it('is cancelled from a second prompt, without a call of the model', async () => {
      const room = await openSession(agent, [works, { error: { status: 400, message: 'no' } }]);
      await room.prompt('/ralphkit:ralph-loop mend it');
      const [loop] = room.active();
      const asked = room.asked().length;
      const output = await room.prompt('/ralphkit:cancel-ralph', '--resume', loop?.sessionId ?? '');
      expect(output).toContain('Ralph loop ended: CANCELLED');
      expect(room.asked()).toHaveLength(asked);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED' } }]);
    });

    it('refuses wrong words before there is any state', async () => {
      const room = await openSession(agent, [says('Said.')]);
      expect(await room.prompt('/ralphkit:ralph-loop mend it --max-iteration 3')).toContain(
        'did you mean --max-iterations?',
      );
      expect(room.asked()).toEqual([]);
      expect(room.active()).toEqual([]);
    });

    it('keeps two sessions of one repository apart', async () => {
      const room = await openSession(agent, [works, says('More.'), works, says(tag)]);
      await Promise.all(
        ['A', 'B'].map((name) => room.prompt(`/ralphkit:ralph-loop ${name} --max-iterations 3`)),
      );
      const ended = room.ended();
      expect(ended.map(({ loop }) => loop.task).sort()).toEqual(['A', 'B']);
      expect(new Set(ended.map(({ sessionId }) => sessionId)).size).toBe(2);
      expect(ended.every(({ loop }) => loop.outcome !== null && loop.iteration <= 3)).toBe(true);
      expect(room.active()).toEqual([]);
    });

    it('is paused by Escape and a question, answers that in peace, and goes on when it is told to', async () => {
      const hangs: ModelAnswer = { blocks: [{ delay: 60_000 }, { text: 'Too late.' }] };
      const answers = [works, says('A start.'), hangs, says('It is 4.'), works, says(tag)];
      const room = await openSession(agent, answers);
      const terminal = room.open();
      const { shows, type } = typist(terminal);
      await shows('❯');
      await type('/ralphkit:ralph-loop mend it --max-iterations 9');
      await shows('iteration 1 of 9');
      await waitUntil(() => room.asked().length === 3, { timeoutMs: 60_000 });
      terminal.press('Escape');
      await shows('Interrupted');
      await type('What is 2 + 2?');
      await shows('It is 4.');
      await waitUntil(() => room.active()[0]?.status === 'paused', { timeoutMs: 60_000 });
      expect(room.asked()).toHaveLength(4);
      await type('/ralphkit:ralph-resume');
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 1 } }]);
    });

    it('is cancelled at the next stop by what is typed while the agent works', async () => {
      const room = await openSession(agent, [works, says('A start.'), slow, works, says('More.')]);
      const { shows, type } = typist(room.open());
      await shows('❯');
      await type('/ralphkit:ralph-loop mend it --max-iterations 9');
      await waitUntil(() => room.asked().length === 3, { timeoutMs: 60_000 });
      await type('/ralphkit:cancel-ralph');
      await shows('Ralph loop ended: CANCELLED');
      await shows('The last one ended: CANCELLED');
      expect(room.asked()).toHaveLength(3);
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED', iteration: 1 } }]);
    });

    it('answers what is typed while the agent works, then goes on, until it is told to stop', async () => {
      const answers = [works, says('A start.'), slow, says('With tabs.'), slow, says('I stopped.')];
      const room = await openSession(agent, answers);
      const { shows, type } = typist(room.open());
      await shows('❯');
      await type('/ralphkit:ralph-loop mend it --max-iterations 9');
      await waitUntil(() => room.asked().length === 3, { timeoutMs: 60_000 });
      await type('use tabs');
      await shows('With tabs.');
      await waitUntil(() => room.asked().length === 5, { timeoutMs: 60_000 });
      expect(room.asked()[3]).toContain('use tabs');
      expect(room.active()).toMatchObject([{ status: 'active', loop: { iteration: 2 } }]);
      await type('stop');
      await shows('Ralph loop paused: you said stop');
      expect(room.active()).toMatchObject([{ status: 'paused', loop: { iteration: 2 } }]);
    });

    it('keeps its count over Escape, the end of the program and a resume', async () => {
      const room = await openSession(agent, [works, slow, says(tag)]);
      const terminal = room.open();
      const first = typist(terminal);
      await first.shows('❯');
      await first.type('/ralphkit:ralph-loop mend it');
      await waitUntil(() => room.asked().length === 2, { timeoutMs: 60_000 });
      terminal.press('Escape');
      await first.shows('Interrupted');
      await first.type('/exit');
      await terminal.exitCode();
      const second = typist(room.open('--continue'));
      await second.shows('❯');
      await second.type('/ralphkit:ralph-resume');
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', toolCalls: 1 } }]);
    });

    it('sends a long task back in one piece, below the limit on the output of hooks', async () => {
      const room = await openSession(agent, [works, says('A start.'), says(tag)]);
      await room.prompt(`/ralphkit:ralph-loop ${'mend "it"\n'.repeat(6000)}`);
      expect(room.asked()[0]).toContain('characters of the task. Read all of it: ');
      expect(room.asked()[2]?.split('characters of the task. Read all of it: ').length).toBeGreaterThan(2);
      expect(room.asked()[2]).not.toContain('persisted-output');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED' } }]);
    });

    it('ends for a human where every call is refused', async () => {
      const writes: ModelAnswer = { blocks: [{ shell: 'touch made' }] };
      // Claude also asks on its own account, so no answer is bound to a turn.
      const answers = Array.from({ length: 6 }, () => [writes, says('I may not.')]).flat();
      const room = await openSession(agent, answers);
      await room.run('-p', '/ralphkit:ralph-loop mend it', '--plugin-dir', plugin);
      expect(room.asked().join()).toContain('Every tool call of your last turn was refused');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'BLOCKED' } }]);
    });

    it('leaves a session without a loop alone', async () => {
      const room = await openSession(agent, [works, says('Done.')]);
      await room.prompt('Mend it.');
      expect(room.asked()).toHaveLength(2);
      expect(existsSync(room.repo.path('state', 'ralph'))).toBe(false);
    });
  });
}

/** The program with the plugin, one prompt at a time or in a terminal. */
async function openSession(agent: WantedAgent, answers: ModelAnswer[]) {
  const session = await openAnySession(agent, answers);
  const { repo } = session;
  const plugged = ['--plugin-dir', plugin, '--allowedTools=Bash'];
  return {
    ...session,
    prompt: (prompt: string, ...flags: string[]) => session.run('-p', prompt, ...flags, ...plugged),
    /** The program in a terminal; it asks none of the questions of a first start. */
    open(...flags: string[]) {
      const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      const config = {
        hasCompletedOnboarding: true,
        lastOnboardingVersion: '9.9.9',
        theme: 'dark',
        projects: { [repo.cwd]: trusted },
      };
      const file = join(repo.home, '.claude.json');
      if (!existsSync(file)) writeFileSync(file, JSON.stringify(config));
      return session.open(...plugged, ...flags);
    },
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { makeFleet, patience } from '../fleet/swarm/fleet.ts';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { waitUntil } from '../support/processes.ts';
import { preparePlace } from './place.ts';
import { rowOf, type WantedAgent } from './table.ts';

const says = (text: string): ModelAnswer => ({ blocks: [{ text }] });
const works = (file: string): ModelAnswer => ({ blocks: [{ shell: `echo work >> ${file}` }] });
const agents = inject('agents').filter(({ name }) => name === 'claude');
const missing: WantedAgent = { name: 'claude', version: '(not asked for)', error: 'not asked for' };
const pattern = 'All tasks complete';

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the real interactive claude ${agent.version} as a worker`, () => {
    it('is started and prompted, finishes, is started anew, and ends the loop by its done pattern', async () => {
      const prompt = `Do "the" work, $(touch A).\n\nWhen nothing is left, print ${pattern} and stop.\n`;
      const answers = [works('one.txt'), says('There is more to do.'), works('two.txt'), says(`${pattern}.`)];
      const { fleet, model, spawn } = await openFleet(agent, answers, prompt);
      const spawned = await spawn('--done-pattern', pattern, '--inactivity-timeout', '15');
      expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
      expect(spawned.stdout).toContain('[ralph mode: iteration 1/5]');
      const asked = () => model.requests().filter(({ answer }) => answer !== null);
      await waitUntil(() => asked().length >= 1, { ...patience, what: 'the first request' });
      fleet.write('PROMPT.md', `Edited. ${prompt}`);
      await waitUntil(() => fleet.state('agent').status === 'stopped', {
        timeoutMs: 120_000,
        what: 'the end of the loop',
      });

      expect(fleet.eventTexts('agent')).toEqual([
        'starting iteration 1/5',
        expect.stringContaining('inactivity timeout (15s), restarting'),
        'starting iteration 2/5',
        'inactivity timeout (15s)',
        'done pattern matched, stopping loop',
      ]);
      expect(fleet.state('agent')).toMatchObject({ current_iteration: 2, total_failures: 0 });
      expect([fleet.exists('one.txt'), fleet.exists('two.txt'), fleet.exists('A')]).toEqual([
        true,
        true,
        false,
      ]);
      const texts = asked().map(({ text }) => text);
      expect(texts[0]).toContain(prompt.trimEnd());
      expect(texts.find((text) => text.includes('Edited. Do "the" work, $(touch A).'))).toBeDefined();
    });

    it('waits for a person where it asks for permission, and says so', async () => {
      const { fleet, spawn } = await openFleet(agent, [works('made.txt'), says('Done.')], 'Work.\n');
      const spawned = await spawn('--inactivity-timeout', '20', '--', '--permission-mode', 'default');
      expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
      const why = async () => (await fleet.swarm('why', 'agent')).stdout;
      await waitUntil(async () => (await why()).includes('waits for your permission'), {
        timeoutMs: 90_000,
        what: 'the question on the screen',
      });
      expect(await why()).toContain('next: swarm attach agent');
      expect((await fleet.swarm('top')).stdout).toContain('1 waits for you');
      expect(fleet.state('agent').status).toBe('paused');
      await fleet.swarm('send', 'agent', '--raw', '1');
      await waitUntil(() => fleet.exists('made.txt'), {
        timeoutMs: 60_000,
        what: 'the work that was allowed',
      });
      await waitUntil(() => fleet.eventTexts('agent').length >= 3, {
        timeoutMs: 60_000,
        what: 'the end of the question',
      });
      expect(fleet.eventTexts('agent').slice(0, 3)).toEqual([
        'starting iteration 1/5',
        expect.stringMatching(/^needs you: waits for your permission \(Do you want to .*\?\)$/),
        'resumed: the question is gone',
      ]);
    });

    it('waits for a person where auto mode cannot check an action, and works when that is answered', async () => {
      const curl: ModelAnswer = { blocks: [{ shell: 'curl -s http://127.0.0.1:9/ -o /etc/x' }] };
      const { fleet, spawn } = await openFleet(agent, [curl, works('made.txt'), says('Done.')], 'Work.\n');
      const spawned = await spawn('--inactivity-timeout', '20', '--');
      expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
      const asked = () => fleet.eventTexts('agent').filter((text) => text.startsWith('needs you: '));
      await waitUntil(() => asked().length > 0, { timeoutMs: 90_000, what: 'the dialog' });
      expect(asked()[0]).toBe(
        "needs you: waits for your answer (Auto mode can't check actions in this session)",
      );
      expect(fleet.state('agent').status).toBe('paused');
      await fleet.swarm('send', 'agent', '--raw', '1');
      await waitUntil(() => asked().length > 1 || fleet.exists('made.txt'), {
        timeoutMs: 60_000,
        what: 'the next question, or the work',
      });
      expect(fleet.eventTexts('agent').join()).not.toContain('inactivity');
    });

    it('is asked to wrap up when its context is nearly full, and ended when it is fuller', async () => {
      const filled = (inputTokens: number, answer: ModelAnswer): ModelAnswer => ({
        ...answer,
        usage: { inputTokens },
      });
      const answers = [
        filled(150_000, works('one.txt')),
        filled(151_000, { blocks: [{ delay: 8000 }, { shell: 'echo work >> one.txt' }] }),
        filled(180_000, { blocks: [{ shell: 'tail -f /dev/null' }] }),
        says(`${pattern}.`),
      ];
      const { fleet, model, spawn } = await openFleet(agent, answers, 'Work.\n');
      const done = ['--done-pattern', pattern, '--check-done-continuous'];
      const options = ['--max-context', '70', '--inactivity-timeout', '600', '--max-iterations', '2'];
      const asksNothing = ['--', '--permission-mode', 'acceptEdits', '--allowedTools=Bash'];
      const spawned = await spawn(...options, ...done, ...asksNothing);
      expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
      await waitUntil(() => fleet.state('agent').status === 'stopped', {
        timeoutMs: 120_000,
        what: 'the end of the loop',
      });
      expect(fleet.eventTexts('agent')).toEqual([
        'starting iteration 1/2',
        expect.stringMatching(/^context at 7\d %: asked to wrap up$/),
        expect.stringMatching(/^the context is \d+ % full, restarting$/),
        expect.stringContaining('iteration 1 completed'),
        'starting iteration 2/2',
        'done pattern matched, stopping loop',
      ]);
      const texts = model.requests().map(({ text }) => text);
      expect(texts.some((text) => text.includes('Your context is nearly full.'))).toBe(true);
    });
  });
}

/** A fleet, a model that follows a script, and the real program under its own name. */
async function openFleet(agent: WantedAgent, answers: ModelAnswer[], prompt: string) {
  if ('error' in agent) throw new Error(agent.error);
  const { program } = agent;
  const row = rowOf(agent);
  const fleet = makeFleet({ files: { 'PROMPT.md': prompt } });
  const { cwd, home, bin } = fleet;
  const model = await startModelServer({ script: { answers } });
  onTestFinished(() => model.close());
  const place = await preparePlace({ row, program, cwd, home, model, isolation: inject('isolation') });
  onTestFinished(() => place.close());
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const config = {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: '9.9.9',
    theme: 'dark',
    projects: { [cwd]: trusted },
  };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(config));
  const variables = Object.entries({ ...place.env, ...place.agentEnv, TERM: 'xterm-256color' });
  const words = [
    'env',
    '-i',
    ...variables.map(([name, value]) => `${name}=${value}`),
    ...place.through,
    program,
  ];
  const wrapper = join(bin, 'claude');
  writeFileSync(wrapper, `#!/bin/sh\nexec ${words.map(quote).join(' ')} "$@"\n`, { mode: 0o755 });
  const spawn = (...given: string[]) => {
    const dash = given.includes('--') ? given.indexOf('--') : given.length;
    const own = given.slice(0, dash);
    const flags = dash < given.length ? given.slice(dash + 1) : ['--allowedTools=Bash'];
    const max = own.includes('--max-iterations') ? [] : ['--max-iterations', '5'];
    const usual = ['--name', 'agent', '--ralph', '--prompt-file', 'PROMPT.md', '--tmux-socket', fleet.socket];
    return fleet.swarm('spawn', ...usual, ...max, ...own, '--', wrapper, ...flags);
  };
  return { fleet, model, spawn };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

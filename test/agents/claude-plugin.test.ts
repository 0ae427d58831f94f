import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { SessionLoop } from '../../src/store/session-loops.ts';
import { type ModelAnswer, startModelServer } from '../../src/testkit/index.ts';
import { makeRepo } from '../support/repo.ts';
import { preparePlace } from './place.ts';
import { rowOf, type WantedAgent } from './table.ts';

const plugin = fileURLToPath(new URL('../../plugins/claude-code', import.meta.url));
const says = (text: string): ModelAnswer => ({ blocks: [{ text }] });
const works: ModelAnswer = { blocks: [{ shell: 'echo work' }] };
const tag = '<promise>DONE</promise>';
const agents = inject('agents').filter(({ name }) => name === 'claude');
const missing: WantedAgent = { name: 'claude', version: '(not asked for)', error: 'not asked for' };

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the plugin in the real claude ${agent.version}`, () => {
    it('sends the agent back twice, then believes it, with the task byte for byte', async () => {
      const task = 'mend "it" $(touch A) `touch B` $1 {{PROMPT}}\nline two 🎉';
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
      expect(room.asked()[3]).toContain('You mentioned the completion tag in a sentence');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2, task } }]);
      expect(room.active()).toEqual([]);
      expect(['A', 'B'].filter((name) => existsSync(room.repo.path(name)))).toEqual([]);
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

    it('leaves a session without a loop alone', async () => {
      const room = await openSession(agent, [works, says('Done.')]);
      await room.prompt('Mend it.');
      expect(room.asked()).toHaveLength(2);
      expect(existsSync(room.repo.path('state', 'ralph'))).toBe(false);
    });
  });
}

/** A repository, a model that follows a script, and the real program with the plugin, one prompt at a time. */
async function openSession(agent: WantedAgent, answers: ModelAnswer[]) {
  if ('error' in agent) throw new Error(agent.error);
  const { program } = agent;
  const row = rowOf(agent);
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const { cwd, home } = repo;
  const model = await startModelServer({ script: { answers } });
  onTestFinished(() => model.close());
  const isolation = inject('isolation');
  const place = await preparePlace({ row, program, cwd, home, model, isolation });
  onTestFinished(() => place.close());
  const sessions = repo.path('state', 'ralph', 'sessions');
  const loopsIn = (paths: string[]): SessionLoop[] =>
    paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));
  return {
    repo,
    prompt(prompt: string, ...flags: string[]): Promise<string> {
      const words = ['-p', prompt, '--plugin-dir', plugin, '--allowedTools=Bash', ...flags];
      const [first = '', ...rest] = [...place.through, program, ...words];
      const env = { ...place.env, ...place.agentEnv, XDG_STATE_HOME: repo.path('state') };
      const child = spawn(first, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      return new Promise((resolve) => child.once('close', () => resolve(output)));
    },
    /** All texts of each request that got an answer of the script. */
    asked: () => model.requests().flatMap(({ answer, text }) => (answer === null ? [] : [text])),
    active: () =>
      loopsIn(
        namesIn(sessions)
          .filter((name) => name.endsWith('.json'))
          .map((name) => join(sessions, name)),
      ),
    ended: () =>
      loopsIn(namesIn(join(sessions, 'ended')).map((run) => join(sessions, 'ended', run, 'state.json'))),
  };
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

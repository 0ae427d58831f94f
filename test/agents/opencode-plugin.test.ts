import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { listEndedLoops } from '../../src/drive/session/session-loops.ts';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { waitUntil } from '../support/processes.ts';
import { makeRepo } from '../support/repo.ts';
import { preparePlace } from './place.ts';
import { openSession, says, typist, works } from './session.ts';
import { rowOf, type WantedAgent } from './table.ts';

const plugin = fileURLToPath(new URL('../../dist/lib/opencode.js', import.meta.url));
const tag = '<promise>DONE</promise>';
const agents = inject('agents').filter(({ name }) => name === 'opencode');
const missing: WantedAgent = { name: 'opencode', version: '(not asked for)', error: 'not asked for' };

for (const agent of agents.length > 0 ? agents : [missing]) {
  describe.skipIf('error' in agent)(`the plugin in the real opencode ${agent.version}`, () => {
    it('goes round three times to acceptance, with the task byte for byte', async () => {
      const task = 'mend "it" $(touch A) !`touch B` `x` $1 {{PROMPT}}\nline two 🎉';
      const room = await openServer(agent, [
        works,
        says('A start.'),
        says(`I will not output ${tag} yet.`),
        says(`Checked.\n\n${tag}`),
      ]);
      await room.command('ralph-loop', `${task} --max-iterations 9`);
      await waitUntil(() => room.asked().length === 4 && room.states().length === 0, { timeoutMs: 60_000 });
      const prompts = room.asked();
      expect(prompts).toHaveLength(4);
      expect(prompts[0]).toContain(task);
      expect(prompts[2]).toContain('[RALPH LOOP - ITERATION 1/9]');
      expect(prompts[3]).toContain('[RALPH LOOP - ITERATION 2/9]');
      expect(prompts[3]).toContain('which does not count as a claim');
      expect(prompts[3]?.split(task)).toHaveLength(4);
      expect(room.ended()).toMatchObject([
        { host: 'opencode', loop: { outcome: 'PROMISE_ACCEPTED', iteration: 2 } },
      ]);
      expect(['A', 'B'].filter((name) => existsSync(room.repo.path(name)))).toEqual([]);
    });

    it('turns a promise without work down, and stops at the maximum', async () => {
      const room = await openServer(agent, [says(tag), says('Still talking.')]);
      await room.command('ralph-loop', '"mend it" --max-iterations=1');
      await waitUntil(() => room.asked().length === 2 && room.states().length === 0, { timeoutMs: 60_000 });
      const prompts = room.asked();
      expect(prompts).toHaveLength(2);
      expect(prompts[1]).toContain('no tool calls/work were performed');
      expect(room.states()).toEqual([]);
    });

    it('is cancelled by a command, and refuses words that it does not know', async () => {
      const room = await openServer(agent, [
        works,
        { blocks: [{ delay: 3000 }, { text: 'Working.' }] },
        says('Said.'),
      ]);
      await room.command('ralph-loop', 'mend it --max-iteration 3');
      expect(room.asked().at(-1)).toContain('did you mean --max-iterations?');
      expect(room.states()).toEqual([]);
      const started = room.command('ulw-loop', 'mend it');
      await waitUntil(() => room.states().length === 1, { timeoutMs: 120_000 });
      await room.command('cancel-ralph', '');
      await started;
      expect(room.states()).toEqual([]);
      expect(room.asked().join('\n')).not.toContain('RALPH LOOP - ITERATION');
      expect(room.asked().at(-1)).toContain('Ralph loop ended: CANCELLED after 0 iterations');
    });

    it('checks a claim with a command, and refuses a harmful tool call on the way', async () => {
      const room = await openServer(agent, [
        { blocks: [{ shell: 'git push --force' }] },
        says(tag),
        { blocks: [{ shell: 'touch ready' }] },
        says(tag),
      ]);
      await room.command('ralph-loop', `mend it --verify 'test -e ready'`);
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      const prompts = room.asked();
      expect(prompts[1]).toContain('ralph guard (git)');
      expect(prompts[2]).toContain('checked with "test -e ready", which failed');
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'PROMISE_ACCEPTED' } }]);
    });

    it('is cancelled in the terminal while the agent works', async () => {
      const slow: ModelAnswer = { blocks: [{ delay: 20_000 }, { text: 'Slow one.' }] };
      const room = await openSession(agent, [slow, says('More.')]);
      room.repo.write('.opencode/plugins/ralph-loop.js', `export { RalphLoop } from '${plugin}';\n`);
      const { shows, type } = typist(room.open(), '', 500);
      await shows('Ask anything');
      // A space behind it closes the list of commands, which takes the first Enter.
      await type('/ralph-loop mend it --max-iterations 9 ');
      await waitUntil(() => room.asked().length === 1, { timeoutMs: 60_000 });
      await type('/cancel-ralph ');
      await waitUntil(() => room.ended().length === 1, { timeoutMs: 60_000 });
      expect(room.ended()).toMatchObject([{ loop: { outcome: 'CANCELLED', iteration: 0 } }]);
    });

    it('ends when the user aborts the turn', async () => {
      const room = await openServer(agent, [
        { blocks: [{ delay: 60_000 }, { text: 'Late.' }] },
        says('More.'),
      ]);
      const started = room.command('ralph-loop', 'mend it');
      await waitUntil(() => room.asked().length === 1, { timeoutMs: 120_000 });
      expect(room.states()).toHaveLength(1);
      await room.abort();
      await started;
      await waitUntil(() => room.states().length === 0, { timeoutMs: 30_000 });
      expect(room.asked()).toHaveLength(1);
    });
  });
}

/** The real server with the plugin in a project, and a session in it. */
async function openServer(agent: WantedAgent, answers: ModelAnswer[]) {
  if ('error' in agent) throw new Error(agent.error);
  const repo = makeRepo({
    files: { '.opencode/plugins/ralph-loop.js': `export { RalphLoop } from '${plugin}';\n` },
  });
  const { cwd, home } = repo;
  const model = await startModelServer({ script: { answers } });
  onTestFinished(() => model.close());
  // In a network namespace of its own, nobody could talk to the server.
  const place = await preparePlace({
    row: rowOf(agent),
    program: agent.program,
    cwd,
    home,
    model,
    isolation: null,
  });
  onTestFinished(() => place.close());
  mkdirSync(repo.path('state'), { recursive: true });
  const server = spawn(agent.program, ['serve', '--port', '0', '--print-logs'], {
    cwd,
    env: { ...place.env, ...place.agentEnv, XDG_STATE_HOME: repo.path('state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(server, 'close');
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await closed;
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
  const find = () => /http:\/\/127[\d.]+:\d+/.exec(output)?.[0];
  const url = await waitUntil(find, { timeoutMs: 60_000, what: 'the address of the server' });

  async function post(path: string, body: object): Promise<{ id: string }> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.clone().text()).toBe(200);
    const answer: { id: string } = JSON.parse(await response.text());
    return answer;
  }
  const { id } = await post('/session', { title: 'x' });
  const sessions = repo.path('state', 'ralph', 'sessions');
  return {
    repo,
    command: (command: string, words: string) =>
      post(`/session/${id}/command`, { command, arguments: words }),
    abort: () => post(`/session/${id}/abort`, {}),
    /** All texts of each request that got an answer of the script. */
    asked: () => model.requests().flatMap(({ answer, text }) => (answer === null ? [] : [text])),

    states: () => (existsSync(join(sessions, `${id}.json`)) ? [id] : []),
    /** The loops that ended, as `ralph runs` knows them. */
    ended: () => listEndedLoops({ XDG_STATE_HOME: repo.path('state') }),
  };
}

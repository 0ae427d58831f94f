import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished } from 'vitest';
import type { SessionLoop } from '../../src/drive/session/session-loops.ts';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';
import { openInTerminal, type Terminal } from '../support/terminal.ts';
import { preparePlace } from './place.ts';
import { rowOf, type WantedAgent } from './table.ts';

export const says = (text: string): ModelAnswer => ({ blocks: [{ text }] });
export const works: ModelAnswer = { blocks: [{ shell: 'echo work' }] };

/** A repository, a model that follows a script, and the real program in it, one prompt at a time. */
export async function openSession(agent: WantedAgent, answers: readonly ModelAnswer[]) {
  if ('error' in agent) throw new Error(agent.error);
  const { program } = agent;
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const { cwd, home } = repo;
  const model = await startModelServer({ script: { answers } });
  onTestFinished(() => model.close());
  const place = await preparePlace({
    row: rowOf(agent),
    program,
    cwd,
    home,
    model,
    isolation: inject('isolation'),
  });
  onTestFinished(() => place.close());
  const sessions = repo.path('state', 'ralph', 'sessions');
  const loopsIn = (paths: string[]): SessionLoop[] =>
    paths.filter((path) => existsSync(path)).map((path) => JSON.parse(readFileSync(path, 'utf8')));
  const env = { ...place.env, ...place.agentEnv, XDG_STATE_HOME: repo.path('state') };
  return {
    repo,
    env,
    /** The words that start the program with these, cut off from the network. */
    command: (...words: string[]): string[] => [...place.through, program, ...words],
    /** Runs it to its end, and gives all that it printed. */
    run(...words: string[]): Promise<string> {
      const [first = '', ...rest] = this.command(...words);
      const child = spawn(first, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      return new Promise((resolve) => child.once('close', () => resolve(output)));
    },
    /** Starts it in a terminal. */
    open(...words: string[]): Terminal {
      const variables = Object.entries({ ...env, TERM: 'xterm-256color' }).map(
        ([name, value]) => `${name}=${value}`,
      );
      return openInTerminal(repo, ['env', '-i', ...variables, ...this.command(...words)]);
    },
    /** Runs the built `ralph` in the same world. */
    async ralph(...words: string[]): Promise<string> {
      const { code, stdout, stderr } = await runRalph(words, { cwd, env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
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
      loopsIn(namesIn(join(sessions, 'runs')).map((run) => join(sessions, 'runs', run, 'state.json'))),
  };
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/**
 * Types into a program, and waits for what its screen shows. `prompt` is the mark before what is typed. Some take an Enter
 * right behind a paste for a part of it, and get `restMs` between the two.
 */
export function typist(terminal: Terminal, prompt = '', restMs = 0) {
  const shows = (text: string) =>
    waitUntil(() => terminal.screen().includes(text), { timeoutMs: 60_000, what: `"${text}" on the screen` });
  return {
    shows,
    async type(text: string) {
      terminal.paste(text);
      await shows(`${prompt}${text}`.trimEnd());
      if (restMs > 0) await sleep(restMs);
      terminal.press('Enter');
    },
  };
}

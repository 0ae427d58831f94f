import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { JournalEvent } from '../../src/journal/events.ts';
import type { ModelAnswer } from '../support/model-server/script.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { type RunningRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { preparePlace } from './place.ts';
import { rowOf, type WantedAgent } from './table.ts';

/** A repository, a model that follows a script, and a real agent that can reach nothing else. */
export type Room = {
  readonly repo: Repo;
  start(...args: string[]): RunningRalph;
  journal(): JournalEvent[];
  /** All texts of the first request that got this answer of the script. */
  asked(answer: number): string;
};

export async function openRoom(
  agent: WantedAgent,
  answers: (repo: Repo) => ModelAnswer[],
  settings: object | ((model: { readonly port: number }) => object) = {},
): Promise<Room> {
  if ('error' in agent) throw new Error(agent.error);
  const { program } = agent;
  const row = rowOf(agent);
  const { routes = {}, flags = [] } = row;
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const { cwd, home } = repo;
  const model = await startModelServer({ script: { answers: answers(repo) }, routes });
  onTestFinished(() => model.close());
  const isolation = inject('isolation');
  const place = await preparePlace({ row, program, cwd, home, model, isolation });
  onTestFinished(() => place.close());

  const protocol = agent.protocol === undefined ? {} : { protocol: agent.protocol };
  const command = { command: program, permissions: 'full', flags, env: place.agentEnv, ...protocol };
  const more = typeof settings === 'function' ? settings(model) : settings;
  const all = { agent: command, completionPromise: 'DONE', maxWait: '30s', ...more };
  repo.write('.ralph/settings.json', JSON.stringify(all));
  const env = { ...withoutOurs(), ...place.env };
  return {
    repo,
    start: (...args) => startRalph(args, { cwd, env, through: place.through }),
    journal: () => journalOf(repo),
    asked: (answer) => model.requests().find((request) => request.answer === answer)?.text ?? '',
  };
}

function withoutOurs(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
}

function journalOf(repo: Repo): JournalEvent[] {
  const [run = ''] = readdirSync(repo.path('.ralph', 'runs'));
  const lines = repo
    .read(join('.ralph', 'runs', run, 'journal.ndjson'))
    .trim()
    .split('\n');
  return lines.map((line): JournalEvent => JSON.parse(line));
}

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { engineAddress } from '../../src/cluster/address.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { openCluster } from '../../src/cluster/open.ts';
import { readSeal } from '../../src/cluster/trailers.ts';
import type { LoopOrder } from '../../src/fleet/port.ts';
import { waitUntil } from '../support/processes.ts';
import { type RunningRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import type { TestStore } from '../support/stores.ts';

/** A store, a repository on a "server", and machines with folders of their own. */
export type World = Repo & {
  readonly cluster: Cluster;
  readonly leaseMs: number;
  /** The repository that all machines push to. */
  readonly origin: string;
  /** Writes a program that reads a prompt and is the agent of a loop. */
  agent(name: string, script: string): string;
  submit(
    name: string,
    agent: string,
    more?: Partial<LoopOrder['settings']> & { env?: LoopOrder['env'] },
  ): Promise<void>;
  machine(name: string, ...words: string[]): Machine;
  /** Waits until a loop is over. */
  over(name: string): Promise<string>;
  /** The trailers on the branch of a loop, oldest first, and what is wrong with them. */
  iterations(name: string): number[];
  /** Checks the branch commit by commit: all that ran to its end is there, once. */
  problems(name: string, iterations: number): string[];
  log(file: string): string[];
};

export type Machine = RunningRalph & {
  readonly name: string;
  readonly dir: string;
  /** What it printed. */
  text(): string;
};

export const patience = { timeoutMs: 90_000 };

export async function makeWorld(store: TestStore, leaseMs = 2000): Promise<World> {
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const origin = join(repo.home, 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', repo.cwd, origin]);
  const engine = await store.fresh();
  const address = engineAddress(engine, {});
  if (address === null) throw new Error('there is no store');
  const cluster = await openCluster(address, { leaseMs });
  onTestFinished(() => cluster.close());
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', origin, ...words], { encoding: 'utf8', maxBuffer: 2 ** 26 }).trimEnd();
  const messages = (name: string) =>
    git('log', '--reverse', '-z', '--format=%B', name)
      .split('\0')
      .filter((text) => text !== '');
  const iterations = (name: string) =>
    messages(name).flatMap((message) => {
      const seal = readSeal(message);
      return seal?.loop === name ? [seal.iteration] : [];
    });
  const env = { ...repo.env, SWARM_LEASE_MS: String(leaseMs) };
  return {
    ...repo,
    cluster,
    leaseMs,
    origin,
    iterations,
    agent(name, script) {
      const path = join(repo.bin, name);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    async submit(name, agent, { env: variables = {}, ...settings } = {}) {
      const order: LoopOrder = {
        name,
        command: [agent],
        cwd: '/',
        env: { LOG: join(repo.home, 'ran.txt'), ...variables },
        tags: [],
        settings: {
          prompt_file: '',
          max_iterations: 3,
          done_pattern: null,
          inactivity_timeout: 60,
          ...settings,
        },
        options: {},
        source: { repo: origin, branch: name, base: null, prompt: 'Do the task.\n', pass: [] },
      };
      if (!(await cluster.submit(order))) throw new Error(`${name} is there already`);
    },
    machine(name, ...words) {
      const dir = join(repo.home, name);
      mkdirSync(dir, { recursive: true });
      const args = ['worker', '--engine', engine, '--dir', dir, '--host', name, '--no-sandbox', ...words];
      const running = startRalph(args, { ...repo, env, program: 'swarm' });
      return { ...running, name, dir, text: () => running.output.stdout + running.output.stderr };
    },
    over: async (name) => {
      const view = await waitUntil(
        async () => {
          const found = await cluster.status(name);
          return found?.status === 'stopped' || found?.status === 'failed' ? found : null;
        },
        { ...patience, what: `the end of ${name}` },
      );
      return view?.status ?? '';
    },
    problems(name, expected) {
      const found = iterations(name);
      const wanted = Array.from({ length: expected }, (_, index) => index + 1);
      const problems =
        JSON.stringify(found) === JSON.stringify(wanted) ? [] : [`trailers ${found.join(' ')}`];
      // Each iteration of the agents of these tests adds a line to work.txt: none is missing, none is there twice.
      const lines = git('show', `${name}:work.txt`).split('\n');
      if (lines.join(' ') !== wanted.join(' ')) problems.push(`work.txt has ${lines.join(' ')}`);
      return problems;
    },
    log: (file) =>
      existsSync(join(repo.home, file))
        ? readFileSync(join(repo.home, file), 'utf8').trimEnd().split('\n')
        : [],
  };
}

/** Notes in a file that no branch has when it starts and ends, and adds one line to the work. */
export const worker = (pause = '0.2') =>
  `cat >/dev/null; echo "start $SWARM_WORKER $RALPH_ITERATION" >>"$LOG"; sleep ${pause}; ` +
  `echo "$RALPH_ITERATION" >>work.txt; echo "end $SWARM_WORKER $RALPH_ITERATION" >>"$LOG"`;

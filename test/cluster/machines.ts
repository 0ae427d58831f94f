import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { clusterAddress } from '../../src/cluster/address.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { openCluster } from '../../src/cluster/open.ts';
import type { LoopJob, LoopOrder, WorkSource } from '../../src/cluster/orders.ts';
import { runIdStart } from '../../src/cluster/places.ts';
import { readIterationCommit } from '../../src/cluster/trailers.ts';
import { processesByRun } from '../../src/os/process/run-ids.ts';
import { waitUntil } from '../support/processes.ts';
import { type RunningRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import type { TestStore } from '../support/stores.ts';

/** A store, a repository on a "server", and machines with folders of their own. */
export type World = Repo & {
  readonly cluster: Cluster;
  /** The address of the store. */
  readonly url: string;
  readonly leaseMs: number;
  /** The repository that all machines push to. */
  readonly origin: string;
  /** Writes a program that reads a prompt and is the agent of a loop. */
  agent(name: string, script: string): string;
  submit(name: string, agent: string, more?: Submitted): Promise<void>;
  /** The same loop as the machines see it. */
  job(name: string, id: string): LoopJob;
  machine(name: string, options?: MachineOptions): Machine;
  /** Waits until a loop is over. */
  over(name: string, timeoutMs?: number): Promise<string>;
  /** The trailers on the branch of a loop, oldest first, and what is wrong with them. */
  iterations(name: string): number[];
  /** Checks the branch commit by commit: all that ran to its end is there, once. */
  problems(name: string, iterations: number): string[];
  /** The same, before the branch may be there. */
  iterationsNow(name: string): number[];
  /** The commits that a machine keeps of work that is on no branch. */
  keptBy(machine: Machine): string[];
  log(file: string): string[];
};

type Submitted = Partial<LoopOrder['settings']> & {
  readonly options?: LoopOrder['options'];
  readonly source?: Partial<WorkSource>;
};

type MachineOptions = {
  /** First in its PATH; the folder of the agents if not given. */
  readonly bin?: string;
  readonly words?: readonly string[];
  /** Over what the machine has else. */
  readonly env?: Readonly<Record<string, string>>;
  /** Words before the command. */
  readonly through?: readonly string[];
  readonly url?: string;
};

export type Machine = RunningRalph & {
  readonly name: string;
  readonly dir: string;
  /** What it printed. */
  text(): string;
  /** The processes of its loops: the ones that run them, their agents and all that those started. */
  processes(): number[];
};

export const patience = { timeoutMs: 90_000 };

/** `access` are variables that let those who have them into the store. */
export async function makeWorld(
  store: Pick<TestStore, 'fresh'>,
  leaseMs = 2400,
  access: Readonly<Record<string, string>> = {},
): Promise<World> {
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const origin = join(repo.home, 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', repo.cwd, origin]);
  const url = await store.fresh();
  const address = clusterAddress(url, access);
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
      const commit = readIterationCommit(message);
      return commit?.loop === name ? [commit.iteration] : [];
    });
  const jobFor = (name: string): LoopJob => ({
    name,
    id: '',
    repo: origin,
    branch: name,
    base: null,
    prompt: 'Do the task.\n',
    command: [],
    cwd: '.',
    env: { LOG: join(repo.home, 'ran.txt') },
    pass: [],
    settings: { prompt_file: '', max_iterations: 3, done_pattern: null, inactivity_timeout: 60 },
    options: {},
  });
  const env = { ...repo.env, ...access, SWARM_LEASE_MS: String(leaseMs) };
  return {
    ...repo,
    env,
    cluster,
    url,
    leaseMs,
    origin,
    iterations,
    agent(name, script) {
      const path = join(repo.bin, name);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    async submit(name, agent, { options = {}, source = {}, ...settings } = {}) {
      const { repo: url, branch, base, prompt, pass, cwd, env: variables } = jobFor(name);
      const order: LoopOrder = {
        name,
        command: [agent],
        cwd,
        env: variables,
        tags: [],
        settings: { ...jobFor(name).settings, ...settings },
        options,
        source: { repo: url, branch, base, prompt, pass, ...source },
      };
      if (!(await cluster.submit(order))) throw new Error(`${name} is there already`);
    },
    job: (name, id) => ({ ...jobFor(name), id }),
    machine(name, options = {}) {
      const dir = join(repo.home, name);
      mkdirSync(dir, { recursive: true });
      const { words = ['--no-sandbox'], through = [] } = options;
      const own = ['--cluster', options.url ?? url, '--dir', dir, '--host', name];
      const running = startRalph(['worker', ...own, ...words], {
        ...repo,
        bin: options.bin ?? repo.bin,
        env: { ...env, ...options.env },
        program: 'swarm',
        through,
      });
      return {
        ...running,
        name,
        dir,
        text: () => running.output.stdout + running.output.stderr,
        processes: () => [...processesByRun(runIdStart(dir)).values()].flat(),
      };
    },
    over: async (name, timeoutMs = patience.timeoutMs) => {
      const view = await waitUntil(
        async () => {
          const found = await cluster.status(name);
          return found?.status === 'stopped' || found?.status === 'failed' ? found : null;
        },
        { timeoutMs, what: `the end of ${name}` },
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
    iterationsNow: (name) => (git('branch', '--list', name) === '' ? [] : iterations(name)),
    keptBy({ dir }) {
      const [clone = ''] = readdirSync(join(dir, 'repos'));
      const words = [
        '-C',
        join(dir, 'repos', clone),
        'for-each-ref',
        '--format=%(objectname)',
        'refs/ralph/kept',
      ];
      return execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean);
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

/** The first go takes so many seconds, which is long enough to do something to it; all others take none. */
export const firstTakes = (seconds: number) => `$([ $(wc -l <"$LOG") -eq 1 ] && echo ${seconds} || echo 0)`;

/** Some of them may be gone already. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It is.
    }
  }
}

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type FleetEvent, readTimeline } from '../../../src/fleet/files/events.ts';
import type { RalphState } from '../../../src/fleet/files/loop-record.ts';
import type { Worker } from '../../../src/fleet/files/workers.ts';
import { lockOwner } from '../../../src/os/files/lock.ts';
import { waitUntil } from '../../support/processes.ts';
import { type RunningRalph, type RunResult, runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

/** A fleet with a home, a repository and a tmux server of its own. */
export type TestFleet = Repo & {
  readonly socket: string;
  /** Runs the built `swarm`. */
  swarm(...args: string[]): Promise<RunResult>;
  start(...args: string[]): RunningRalph;
  /** Spawns a loop on our own tmux server; the agent is a shell script. */
  loop(name: string, script: string, ...options: string[]): Promise<RunResult>;
  tmux(...args: string[]): string;
  state(name: string): RalphState;
  workers(): Worker[];
  worker(name: string): Worker;
  /** The lines of `iterations.log` without their time. */
  log(name: string): string[];
  events(name: string): readonly FleetEvent[];
  /** What the timeline says, without what was only seen on the screen. */
  eventTexts(name: string): string[];
  /** Waits until the loop has one of these statuses. */
  until(name: string, ...statuses: RalphState['status'][]): Promise<RalphState>;
  /** The pid of the supervisor; null when none runs. */
  supervisor(): number | null;
};

/** The looks at the screens come so often in tests. */
const tickMs = 60;
export const patience = { timeoutMs: 60_000 };

export function makeFleet(options: Parameters<typeof makeRepo>[0] = {}, lookMs = tickMs): TestFleet {
  const repo = makeRepo({ files: { 'PROMPT.md': 'Do the task.\n' }, ...options });
  const socket = `swarm-test-${randomUUID().slice(0, 8)}`;
  const env = { ...repo.env, SWARM_TICK_MS: String(lookMs) };
  const run = { ...repo, env, program: 'swarm' as const };
  const tmux = (...args: string[]) => {
    try {
      const words = ['-L', socket, ...args];
      return execFileSync('tmux', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd();
    } catch {
      return '';
    }
  };
  onTestFinished(() => void tmux('kill-server'));
  const file = (...parts: string[]) => join(repo.home, '.swarm', ...parts);
  const read = (path: string) => readFileSync(path, 'utf8');
  const state = (name: string): RalphState => JSON.parse(read(file('ralph', name, 'state.json')));
  const workers = (): Worker[] =>
    existsSync(file('state.json')) ? JSON.parse(read(file('state.json'))).workers : [];
  const events = (name: string) => readTimeline(file('ralph', name, 'events.ndjson')).events;
  const swarm = (...args: string[]) => runRalph(args, run);
  return {
    ...repo,
    env,
    socket,
    tmux,
    state,
    workers,
    swarm,
    start: (...args) => startRalph(args, run),
    loop(name, script, ...more) {
      const path = join(repo.bin, `agent-${name}`);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      const max = more.includes('--max-iterations') ? [] : ['--max-iterations', '3'];
      const prompt = more.includes('--prompt-file') ? [] : ['--prompt-file', 'PROMPT.md'];
      const words = ['--name', name, '--ralph', ...prompt, ...max, '--tmux-socket', socket, ...more];
      return swarm('spawn', ...words, '--', path);
    },
    worker(name) {
      const found = workers().find((one) => one.name === name);
      if (found === undefined) throw new Error(`no worker ${name}`);
      return found;
    },
    log: (name) =>
      read(file('ralph', name, 'iterations.log'))
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/^\S+ /, '')),
    events,
    eventTexts: (name) => events(name).flatMap(({ type, text }) => (type === 'screen' ? [] : [text])),
    until: (name, ...statuses) =>
      waitUntil(
        () => {
          const now = state(name);
          return statuses.includes(now.status) ? now : undefined;
        },
        { ...patience, what: `${name} to be ${statuses.join(' or ')}` },
      ).then((found) => found ?? state(name)),
    supervisor: () => lockOwner(file('supervisor.lock'))?.pid ?? null,
  };
}
